"""A crawl's records written by hand, to be judged."""

from pathlib import Path

from mannerly.audit import Audit, Report
from mannerly.evidence import RequestRecord, RunRecord
from mannerly.politeness.gate import version_of
from mannerly.store import JournalStore, Rows
from tests.unit.engine.runs import run_of
from tests.unit.store.store_records import StillClock

START_AT = 1_800_000_000.0
DELAY_S = 70.0
REST_S = 70.05
RULES = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n"
REFUSED = 666
"""The token of leases that the frontier refused."""


class Diary:
    """Requests at seconds after `START_AT`; each lasts for a second unless told otherwise."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.runs: list[RunRecord] = [run_of(1)]
        self.requests: list[RequestRecord] = []

    def ask(self, at_s: float, url: str, /, **changes: object) -> RequestRecord:
        scheme, _, host, *_ = url.split("/")
        record = RequestRecord(
            token=1, writer=1, visit=len(self.requests) + 1, site=host, origin=f"{scheme}//{host}",
            kind="page", url=url, sent_at=START_AT + at_s, ended_at=START_AT + at_s + 1, status=200,
            failure="", address="93.184.216.34", rest_s=REST_S, delay_s=REST_S, why="delay",
            robots_state="", robots_hash=0, robots_fetched_at=0.0, robots_line=0, body=b"",
        )._replace(**changes)  # type: ignore[arg-type]  # fmt: skip
        self.requests.append(record)
        return record

    def robots(self, at_s: float, origin: str, body: bytes = RULES, **changes: object) -> None:
        """A robots.txt is read."""
        values: dict[str, object] = {
            "kind": "robots",
            "robots_state": "found",
            "robots_hash": version_of(body),
            "robots_fetched_at": START_AT + at_s + 1,
            "body": body,
        }
        self.ask(at_s, f"{origin}/robots.txt", **(values | changes))

    def page(self, at_s: float, url: str, body: bytes = RULES, **changes: object) -> None:
        """A page is asked for by the rules in `body`."""
        self.ask(at_s, url, **({"robots_hash": version_of(body)} | changes))

    def judge(self, site: str = "") -> Report:
        store = JournalStore(self.data_dir, 1, clock=StillClock())
        store.write(1, Rows(self.requests, self.runs))
        store.settle(1, [REFUSED])
        store.close()
        with Audit([self.data_dir], site) as audit:
            return audit.judge()
