"""What the archive is told of an exchange."""

import pytest

from mannerly.engine.exchange import exchange_of
from mannerly.engine.ledger import Ledger
from mannerly.fetch.contract import Fetched, TlsFacts
from mannerly.model import Lease, Outcome
from mannerly.records import Exchange
from tests.unit.engine.urls import HOME, responded

LEASE = Lease("example.org", 1, 2, [], [], 0, 0.0)


def test_times_and_tls_are_told() -> None:
    fetched = responded(status=200, body=b"x")
    fetched.tls = TlsFacts("TLSv1.3", "AES", verified=False, problem="expired")
    fetched.first_byte_s = 0.25
    facts = dict(exchange_of(fetched, 2, 1.8e9, (("depth", "3"),)).facts)
    assert facts["fetchTimeMs"] == "1000"
    assert facts["firstByteMs"] == "250"
    assert facts["tls"] == "TLSv1.3 AES"
    assert facts["certificate"] == "expired"
    assert facts["depth"] == "3"


@pytest.mark.parametrize(
    ("status", "length", "cut"), [(200, b"", True), (206, b"3", False), (206, b"9", True)]
)
def test_a_part_that_was_sent_whole_is_not_cut(status: int, length: bytes, cut: bool) -> None:
    fetched = responded(status=status, body=b"abc", Content_Length=length)
    fetched.truncated = True
    assert exchange_of(fetched, 2, 1.8e9, ()).truncated is cut


def test_only_responses_are_kept_and_only_if_the_crawl_keeps_them() -> None:
    broken = Fetched(HOME, failure=Outcome.BROKEN)
    for ledger, expected in ((Ledger(), 0), (Ledger(keeps_exchanges=True), 1)):
        ledger.archive(LEASE, responded(status=503, body=b"busy"), 1.8e9)
        ledger.archive(LEASE, broken, 1.8e9)
        assert ledger.empty is not bool(expected), "a checkpoint must not pass it over"
        assert ledger.text_bytes == 4 * expected
        assert len(ledger.take().rows.of(Exchange)) == expected
