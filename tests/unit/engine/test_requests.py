"""The request book: what is noted, with what, and what is not."""

from mannerly.engine.ledger import Ledger
from mannerly.engine.requests import Basis, RequestBook, Visit
from mannerly.evidence import PAGE, ROBOTS, RequestRecord, RunRecord
from mannerly.fetch.contract import Fetched
from mannerly.model import Lease, Outcome, RobotsRecord, RobotsState
from mannerly.politeness.gate import version_of
from tests.unit.engine.runs import run_of
from tests.unit.store.store_records import StillClock

ORIGIN = "https://a.example"
OFFSET_S = run_of(1).clock_offset_s


def lease(site: str, token: int) -> Lease:
    return Lease(site, 1, token, [], [], 0, 0.0)


OWN, CLAIMED = lease("a.example", 5), lease("b.example", 6)


class Desk:
    def __init__(self) -> None:
        self.clock = StillClock()
        self.ledger = Ledger()
        self.book = RequestBook(run_of(1), self.ledger, self.clock)

    def ask(self, visit: Visit, kind: str = PAGE, by: Lease = OWN) -> None:
        url = f"https://{by.site}/x"
        basis = Basis(7, 50.0, 3) if kind == PAGE else None
        self.book.ask(visit, by, kind, ORIGIN, url=url, delay_s=70.05, basis=basis)

    def answer(self, visit: Visit, status: int = 200, body: bytes = b"") -> Fetched:
        fetched = Fetched("https://a.example/x", status=status, body=body)
        fetched.started_at, fetched.ended_at = self.clock.at, self.clock.at + 2
        self.book.answered(visit, fetched)
        return fetched

    def noted(self) -> list[RequestRecord]:
        return self.ledger.take().rows.of(RequestRecord)


def test_a_page_is_noted_with_what_allowed_it() -> None:
    desk = Desk()
    visit = desk.book.begin()
    desk.ask(visit)
    desk.answer(visit)
    desk.book.rests(visit, 600.0, "retry-after")
    (row,) = desk.noted()
    assert (row.token, row.visit, row.site, row.kind) == (5, 1, "a.example", PAGE)
    assert (row.sent_at, row.ended_at) == (OFFSET_S + 100, OFFSET_S + 102)
    assert (row.rest_s, row.why, row.delay_s) == (600.0, "retry-after", 70.05)
    assert (row.robots_hash, row.robots_fetched_at, row.robots_line) == (7, OFFSET_S + 50, 3)
    desk.book.rests_until(visit, 9999.0)
    assert desk.noted() == [], "once is enough"


def test_a_request_that_was_never_written_is_not_noted() -> None:
    desk = Desk()
    visit = desk.book.begin()
    desk.ask(visit)
    desk.book.answered(visit, Fetched("https://a.example/x", failure=Outcome.NOT_SENT))
    desk.book.rests_until(visit, 170.0)
    assert len(desk.ledger.take().rows) == 0, "nor is the run"


def test_a_request_that_is_cut_off_is_noted_as_such() -> None:
    desk = Desk()
    visit = desk.book.begin()
    desk.ask(visit)
    desk.clock.at += 5
    desk.book.rests_until(visit, desk.clock.at + 70.05)
    (row,) = desk.noted()
    assert (row.failure, row.status) == ("interrupted", 0)
    assert row.ended_at - row.sent_at == 5
    assert round(row.rest_s, 6) == 70.05


def test_rules_stand_with_the_last_request_of_their_chain() -> None:
    """Which may be of another site; that one rests by its own rule."""
    desk = Desk()
    visit = desk.book.begin()
    desk.ask(visit, ROBOTS)
    desk.answer(visit, 301)
    desk.ask(visit, ROBOTS, CLAIMED)
    desk.answer(visit)
    desk.book.claim_rests(visit, CLAIMED, 300.0, "crawl-delay")
    read = RobotsRecord(ORIGIN, RobotsState.FOUND, b"User-agent: *\n", 0.0, 0)
    desk.book.learnt(visit, read, 102.0, 70.05, "delay")
    first, last = desk.noted()
    assert (first.site, first.rest_s, first.robots_state, first.body) == (
        "a.example",
        70.05,
        "",
        b"",
    )
    assert (last.site, last.token, last.origin) == ("b.example", 6, ORIGIN)
    assert (last.rest_s, last.why) == (300.0, "crawl-delay")
    assert (last.robots_state, last.body) == ("found", read.body)
    assert last.robots_hash == version_of(read.body)
    assert last.robots_fetched_at == OFFSET_S + 102


def test_the_run_is_told_of_once() -> None:
    desk = Desk()
    for _ in range(3):
        visit = desk.book.begin()
        desk.ask(visit)
        desk.answer(visit)
        desk.book.rests(visit, 70.05, "delay")
    rows = desk.ledger.take().rows
    assert rows.of(RunRecord) == [run_of(1)]
    assert [row.visit for row in rows.of(RequestRecord)] == [1, 2, 3]
