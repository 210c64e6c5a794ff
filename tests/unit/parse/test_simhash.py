"""The compiled form of `simhash` and the plain one are the same function."""

import itertools
import random
from array import array
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mannerly.parse.simhash import MAX_CHARS, NEAR_BITS, text_print
from mannerly.parse.simhash_plain import MAX_FEATURES, among, printed
from tests.compiled import compiled_part

WORDS = ("Page", "ÉCOLE", "42", "7b", "東京", "ΟΔΟΣ", "İstanbul", "\u212a", "\U00010400", "\ud800")
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from([" ", "\n", "\x01", "\x7f", "\xa0", "\u3000"]),
        st.text(max_size=6),
    ),
    max_size=60,
).map("".join)


@pytest.fixture(scope="module")
def compiled() -> ModuleType:
    return compiled_part("parse._simhash")


@settings(max_examples=200)
@given(TEXTS)
@example("")
@example(" ")
@example("a")
@example("\ud83d\ude00")
def test_both_print_alike(compiled: ModuleType, text: str) -> None:
    assert compiled.printed(text, MAX_CHARS) in (None, printed(text, MAX_CHARS))


@pytest.mark.parametrize("words", [MAX_FEATURES, MAX_FEATURES + 1, 20 * MAX_FEATURES])
def test_both_draw_the_same_sample(compiled: ModuleType, words: int) -> None:
    chance = random.Random(words)
    text = " ".join(f"W{chance.getrandbits(20)}é" for _ in range(words))
    assert compiled.printed(text, MAX_CHARS) == printed(text, MAX_CHARS)


def test_both_stop_at_the_same_place(compiled: ModuleType) -> None:
    text = "ab " * (MAX_CHARS // 3) + "東京" * 10
    assert compiled.printed(text, MAX_CHARS) == printed(text, MAX_CHARS)
    assert text_print(text) == text_print(text + "more")


def test_only_what_python_alone_can_lower_is_left_to_it(compiled: ModuleType) -> None:
    assert compiled.printed("École, Ünïcode, ДОМ, 東京", 100) is not None
    assert compiled.printed("ΟΔΟΣ", 100) is None
    assert compiled.printed("İ", 100) is None


# Few bits, so that hashes are equal, near or 0 often enough.
HASHES = st.sampled_from([0, 1, -1, 0b111, 0xFF, 0x0FFF, -(2**63), 2**63 - 1, 0x5555])


@settings(max_examples=300)
@given(st.lists(st.tuples(HASHES, HASHES, HASHES, HASHES), max_size=8), HASHES, HASHES, HASHES)
def test_both_find_the_same_page(
    compiled: ModuleType,
    rows: list[tuple[int, int, int, int]],
    content: int,
    simhash: int,
    rest: int,
) -> None:
    asked = (array("q", itertools.chain(*rows)), content, simhash, rest, NEAR_BITS)
    assert compiled.among(*asked) == among(*asked)
