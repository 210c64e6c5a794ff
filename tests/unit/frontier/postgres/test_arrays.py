"""Arrays arrive at the server as they were."""

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mannerly.frontier.postgres import arrays
from mannerly.frontier.postgres.arrays import Blobs, Bools, Ints, Texts
from tests.services.postgres import shared

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@pytest.fixture(scope="module")
def connection() -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    with psycopg.connect(shared().url, autocommit=True) as connection:
        arrays.register(connection)
        yield connection


@given(
    ints=st.lists(st.integers(-(2**63), 2**63 - 1)),
    texts=st.lists(TEXT),
    blobs=st.lists(st.binary()),
    bools=st.lists(st.booleans()),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_is_sent_comes_back(
    connection: "psycopg.Connection[tuple[object, ...]]",
    ints: list[int],
    texts: list[str],
    blobs: list[bytes],
    bools: list[bool],
) -> None:
    sent = (Ints(ints), Texts(texts), Blobs(blobs), Bools(bools))
    row = connection.execute("SELECT %s, %s, %s, %s", sent, binary=True).fetchone()
    assert row == (ints, texts, blobs, bools)


def test_long_texts_and_numbers_of_any_size(
    connection: "psycopg.Connection[tuple[object, ...]]",
) -> None:
    texts = ["x" * length for length in (0, 4095, 4096, 100_000)]
    row = connection.execute("SELECT %s, pg_typeof(%s)::text", (Texts(texts), 1)).fetchone()
    assert row == (texts, "bigint")
