"""The contract between whoever runs a crawl and whoever shows or steers it.

A `Snapshot` is the state of a run at one moment: plain numbers and short lists, JSON and back. One
process makes its own; who runs many processes adds theirs with `summed`. A dashboard is given a
`Callable[[], Snapshot]` and `Controls`, and does not know which of the two it is.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from mannerly.observe.durations import Durations, added

KEPT_PAGES = 50
KEPT_EXAMPLES = 5


class LatestPage(NamedTuple):
    url: str
    site: str
    title: str
    preview: str
    """The beginning of its text."""
    status: int
    fetched_at: float
    duration_s: float
    wire_bytes: int


class Example(NamedTuple):
    """A URL that came to no page."""

    url: str
    status: int
    detail: str
    fetched_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the frontier counts over the whole crawl, all its runs and machines."""

    sites: int = 0
    sites_ready: int = 0
    sites_waiting: int = 0
    sites_abandoned: int = 0
    sites_excluded: int = 0
    urls_known: int = 0
    urls_pending: int = 0
    urls_abandoned: int = 0
    urls_spilt: int = 0
    urls_dropped: int = 0
    pages: int = 0
    writers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one moment. Counts are those since it began."""

    at: float = 0.0
    """Unix time, for people."""
    elapsed_s: float = 0.0
    processes: int = 1
    workers: int = 0
    visit_limit: int = 0
    in_flight: int = 0
    seats: int = 0
    """Leased sites at the workbench."""
    unsettled: int = 0
    """Results that wait for a checkpoint."""
    limited_by: str = ""
    """What cut the limit of visits last: CPU or memory."""
    paused: bool = False
    """By a person."""
    trouble: str = ""
    """Why it cannot go on at the moment: the disk or the database."""
    ending: str = ""
    """Why it ends or has ended."""
    ended: bool = False
    max_pages: int = 0
    max_duration_s: float = 0.0
    """Limits of the run; 0: none."""

    visits: int = 0
    robots_requests: int = 0
    page_requests: int = 0
    pages_stored: int = 0
    wire_bytes: int = 0
    links_seen: int = 0
    urls_new: int = 0
    leases: int = 0
    refused: int = 0
    checkpoints: int = 0
    settled: dict[str, int] = field(default_factory=dict)
    """URLs by outcome."""
    deferred: dict[str, int] = field(default_factory=dict)
    leases_unused: dict[str, int] = field(default_factory=dict)
    excused: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    """Responses by class: `2xx`."""
    durations: Durations = field(default_factory=Durations)
    """Of requests for pages that were answered or failed."""
    dns_s: float = 0.0
    """Spent on names, over all pages."""

    lag_s: float = 0.0
    cpu_s: dict[str, float] = field(default_factory=dict)
    """CPU time by stage."""
    memory_bytes: int = 0
    open_files: int = 0
    operations: dict[str, tuple[int, float, float]] = field(default_factory=dict)
    """On the frontier's database: how many, their total and their slowest duration."""
    database_s: float = 0.0
    """What those took in all, the busiest process's."""
    store_s: float = 0.0
    """What writing to disk took in all, the busiest process's."""

    counts: Counts = field(default_factory=Counts)
    latest: list[LatestPage] = field(default_factory=list)
    """Newest first."""
    examples: dict[str, list[Example]] = field(default_factory=dict)
    """By outcome, newest first."""

    @property
    def pages(self) -> int:
        return self.settled.get("fetched", 0)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> "Snapshot":
        """From what `document` gave; keys that this version does not know are left out."""
        known = {name.name for name in dataclasses.fields(cls)}
        values = {name: value for name, value in document.items() if name in known}
        values["durations"] = Durations(**document["durations"])
        values["counts"] = Counts(**document["counts"])
        values["latest"] = [LatestPage._make(it) for it in document["latest"]]
        values["operations"] = {name: tuple(it) for name, it in document["operations"].items()}
        values["examples"] = {
            kind: [Example._make(it) for it in some] for kind, some in document["examples"].items()
        }
        return cls(**values)


Source = Callable[[], Snapshot]
"""Where a snapshot comes from. Cheap, for any thread."""


class Refused(Exception):  # noqa: N818 - an answer to a person, not a fault
    """A control that cannot be obeyed; the text says why, for the person who asked."""


class Controls(Protocol):
    """How a person steers a run. For any thread; each returns when it is done, or raises
    `Refused`."""

    def pause(self) -> None:
        """Start no further visit."""

    def go_on(self) -> None: ...

    def stop(self, why: str) -> None:
        """End the run cleanly, as Ctrl-C does."""

    def set_workers(self, workers: int) -> int:
        """Visits in flight at once, from now on; how many it came to be."""

    def exclude(self, domain: str) -> str:
        """Leave a site alone for good; its name."""

    def add_seeds(self, lines: Sequence[str]) -> str:
        """What became of them, in words."""


_SUMMED = (
    "workers", "visit_limit", "in_flight", "seats", "unsettled", "visits", "robots_requests",
    "page_requests", "pages_stored", "wire_bytes", "links_seen", "urls_new", "leases", "refused",
    "checkpoints", "dns_s", "memory_bytes", "open_files", "processes",
)  # fmt: skip
_LARGEST = ("at", "elapsed_s", "lag_s", "database_s", "store_s", "max_pages", "max_duration_s")
_TABLES = (
    "settled", "deferred", "leases_unused", "excused", "left_out", "statuses", "cpu_s",
)  # fmt: skip
_FIRST = ("trouble", "ending", "limited_by")


def summed(parts: Sequence[Snapshot]) -> Snapshot:
    """Several processes of one run as if they were one. What is counted over the whole crawl is
    taken from the one that looked last."""
    if not parts:
        return Snapshot(processes=0)
    values: dict[str, Any] = {}
    for name in _SUMMED:
        values[name] = sum(getattr(part, name) for part in parts)
    for name in _LARGEST:
        values[name] = max(getattr(part, name) for part in parts)
    for name in _FIRST:
        values[name] = next((text for part in parts if (text := getattr(part, name))), "")
    for name in _TABLES:
        table: Counter[str] = Counter()
        for part in parts:
            table.update(getattr(part, name))
        values[name] = dict(table)
    latest = [page for part in parts for page in part.latest]
    latest.sort(key=lambda page: -page.fetched_at)
    return Snapshot(
        **values,
        paused=any(part.paused for part in parts),
        ended=all(part.ended for part in parts),
        durations=added([part.durations for part in parts]),
        operations=_operations(parts),
        counts=max(parts, key=lambda part: (part.counts.urls_known, part.at)).counts,
        latest=latest[:KEPT_PAGES],
        examples=_examples(parts),
    )


def _operations(parts: Sequence[Snapshot]) -> dict[str, tuple[int, float, float]]:
    total: dict[str, tuple[int, float, float]] = {}
    for part in parts:
        for name, (count, took_s, slowest_s) in part.operations.items():
            before = total.get(name, (0, 0.0, 0.0))
            total[name] = (before[0] + count, before[1] + took_s, max(before[2], slowest_s))
    return total


def _examples(parts: Sequence[Snapshot]) -> dict[str, list[Example]]:
    total: dict[str, list[Example]] = {}
    for part in parts:
        for kind, some in part.examples.items():
            total.setdefault(kind, []).extend(some)
    return {
        kind: sorted(some, key=lambda it: -it.fetched_at)[:KEPT_EXAMPLES]
        for kind, some in total.items()
    }
