"""The request book: every request on the wire becomes a record, whatever comes of it.

A request is entered before it is made (`ask`), gets its answer (`answered`) and is noted in the
ledger when it is known how long the site rests after it (`rest`). Whoever gives a seat back notes
what is still open, so a request that was cut off in the middle is told of, too.

The records of a robots.txt go into the ledger together with what was learnt from it, and those of a
page together with what became of its URL: whatever the frontier knows, the store can prove.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from mannerly.clock import Clock
from mannerly.engine.ledger import Ledger
from mannerly.evidence import INTERRUPTED, ROBOTS, RequestRecord, RunRecord
from mannerly.fetch.contract import Fetched
from mannerly.model import OUTCOME_WORDS, Lease, RobotsRecord
from mannerly.politeness.gate import version_of
from mannerly.politeness.pacing import DELAY
from mannerly.quick import quick


@quick
class Basis(NamedTuple):
    """What allows a page to be asked for."""

    version: int
    fetched_at: float
    line: int


NOTHING = Basis(0, 0.0, 0)
"""Where no robots.txt was read, because there was nobody to ask."""


@dataclass(slots=True)
class Asked:
    """A request that was made, or is being made."""

    lease: Lease
    """Of the site that was asked."""
    kind: str
    origin: str
    url: str
    delay_s: float
    basis: Basis | None
    begun_at: float
    fetched: Fetched | None = None
    """Once its answer is there."""
    rest_s: float | None = None
    why: str = DELAY


@dataclass(slots=True)
class Visit:
    """The requests of one visit that are not noted yet."""

    number: int = 0
    asked: list[Asked] = field(default_factory=list)


class RequestBook:
    def __init__(self, run: RunRecord, ledger: Ledger, clock: Clock) -> None:
        self._run = run
        self._ledger = ledger
        self._clock = clock
        self._visits = 0
        self._told = False
        """Of the run itself. Not before its first request: a run that made none has no terms."""

    def begin(self) -> Visit:
        self._visits += 1
        return Visit(self._visits)

    def ask(
        self,
        visit: Visit,
        lease: Lease,
        kind: str,
        origin: str,
        *,
        url: str,
        delay_s: float,
        basis: Basis | None = None,
    ) -> None:
        """A request for `url` is about to be made. Followed by `answered`, unless it is cut off."""
        visit.asked.append(Asked(lease, kind, origin, url, delay_s, basis, self._clock.now()))

    def answered(self, visit: Visit, fetched: Fetched) -> None:
        """The answer to what was asked last. Forgotten, if no request was written."""
        if not fetched.started_at:
            visit.asked.pop()
            return
        visit.asked[-1].fetched = fetched

    def claim_rests(self, visit: Visit, lease: Lease, rest_s: float, why: str) -> None:
        """How long a site rests that was only asked for a robots.txt of another one."""
        for asked in visit.asked:
            if asked.lease is lease:
                asked.rest_s, asked.why = rest_s, why

    def rests(self, visit: Visit, rest_s: float, why: str) -> None:
        """The site rests: what is open in its visit is noted."""
        self._note(visit, rest_s, why, None, 0.0)

    def learnt(
        self, visit: Visit, record: RobotsRecord, read_at: float, rest_s: float, why: str
    ) -> None:
        """The rules of an origin were read (or not): they stand with the last request."""
        self._note(visit, rest_s, why, record, read_at)

    def rests_until(self, visit: Visit, not_before_at: float) -> None:
        """The same, where nobody has said how long: until the seat's next visit."""
        if visit.asked:
            last = visit.asked[-1].fetched
            ended_at = last.ended_at if last is not None else self._clock.now()
            self.rests(visit, max(0.0, not_before_at - ended_at), DELAY)

    def _note(
        self, visit: Visit, rest_s: float, why: str, read: RobotsRecord | None, read_at: float
    ) -> None:
        if visit.asked and not self._told:
            self._ledger.note(self._run)
            self._told = True
        for asked in visit.asked:
            if asked.rest_s is None:
                asked.rest_s, asked.why = rest_s, why
            last = asked is visit.asked[-1]
            self._ledger.note(
                self._record(visit.number, asked, read if last else None, read_at),
            )
        visit.asked.clear()

    def _record(
        self, visit: int, asked: Asked, read: RobotsRecord | None, read_at: float
    ) -> RequestRecord:
        fetched, basis = asked.fetched, asked.basis
        if fetched is None:
            now = self._clock.now()
            fetched = Fetched(asked.url, started_at=asked.begun_at, ended_at=now)
            failure = INTERRUPTED
        else:
            failure = OUTCOME_WORDS[fetched.failure] if fetched.failure is not None else ""
        version, read_at = (version_of(read.body), read_at) if read is not None else (0, 0.0)
        if basis is not None:
            version, read_at = basis.version, basis.fetched_at
        offset_s = self._run.clock_offset_s
        # In the order of its fields, as in `page`.
        return RequestRecord(
            asked.lease.token,
            self._run.writer,
            visit,
            asked.lease.site,
            asked.origin,
            asked.kind,
            asked.url,
            fetched.started_at + offset_s,
            fetched.ended_at + offset_s,
            fetched.status,
            failure,
            fetched.address,
            asked.rest_s or 0.0,
            asked.delay_s,
            asked.why,
            read.state.name.lower() if read is not None else "",
            version,
            read_at + offset_s if read_at else 0.0,
            basis.line if basis is not None else 0,
            read.body if read is not None and asked.kind == ROBOTS else b"",
        )
