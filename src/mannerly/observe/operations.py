"""The operations of crawl processes on disk, so that another process can look at them, also when
the database that they wait for does not answer.

    DIR/operations/<writer>.json

Each process writes its own file every few seconds and at its end, from a thread of its own: neither
a busy event loop nor a database that hangs keeps it from being written. A file is replaced as a
whole, so a reader never sees half of one; it is not synced, because nothing depends on it.

**What is kept**: the files of one run. The one who holds the data directory removes those of the
run before; until then the last run can be looked at. Within a run a process that dies leaves its
file; at most `KEPT` files stay, the newest, so that one that dies over and over fills no disk.
"""

import json
import logging
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mannerly.observe.strain import Strain, strain_of
from mannerly.observe.tally import Tally
from mannerly.timing import Operation, Running, Timings

log = logging.getLogger(__name__)

NAME = "operations"
WRITE_EVERY_S = 3.0
KEPT = 64
END_S = 2.0
"""What the last writing gets; a disk that hangs must not hold up the end."""


@dataclass(frozen=True, slots=True)
class ProcessOperations:
    """What one process wrote of itself."""

    writer: str
    label: str
    """For people: host and process id."""
    started_at: float
    """Unix time, like `written_at`: for people, nothing is decided by it."""
    written_at: float
    ended: bool
    """It wrote this at its end. False for one that lives, and for one that was killed."""
    slow_s: float
    """From when on it counted an operation as slow."""
    strain: Strain
    operations: dict[str, Operation] = field(default_factory=dict)
    running: list[Running] = field(default_factory=list)
    """What had not ended when it wrote this."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Links that it did not follow, by cause, with repeats."""
    closed: list[tuple[str, str, int]] = field(default_factory=list)
    """The latest patterns whose links it leaves out: site, pattern, pages that were read."""
    cpu_s: float = 0.0
    """CPU time of the process since it began, all threads; with `pages` the cost of one."""
    pages: int = 0
    """Pages that it fetched."""


def clear(data_dir: Path) -> None:
    """Remove what an earlier run left. For who holds the data directory."""
    for path in _files(data_dir):
        with suppress(OSError):
            path.unlink()


def read(data_dir: Path) -> list[ProcessOperations]:
    """What the processes of this run (or else of the last one) wrote, oldest process first. A file
    that is gone or means nothing to this version is left out."""
    found = []
    for path in _files(data_dir):
        if path.suffix != ".json":
            continue
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            found.append(_from_document(json.loads(path.read_text("utf-8"))))
    return sorted(found, key=lambda it: it.started_at)


class OperationsFile:
    """Writes the operations of this process while the block runs, and a last time at its end."""

    def __init__(
        self, data_dir: Path, writer: int, label: str, timings: Timings, tally: Tally
    ) -> None:
        self._directory = data_dir / NAME
        self._path = self._directory / f"{writer:016x}.json"
        self._label = label
        self._timings = timings
        self._tally = tally
        self._started_at = time.time()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write_on, name="operations", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join(END_S)

    def _write_on(self) -> None:
        told = False
        ended = False
        while True:
            try:
                self._write(ended=ended)
            except OSError as exc:
                if not told:
                    told = True
                    log.warning("the operations are not written: %s: %s", self._path, exc.strerror)
            if ended:
                return
            ended = self._end.wait(WRITE_EVERY_S)
            self._timings.warn_of_running()

    def _write(self, *, ended: bool) -> None:
        document = {
            "writer": self._path.stem,
            "label": self._label,
            "started_at": self._started_at,
            "written_at": time.time(),
            "ended": ended,
            "cpu_s": time.process_time(),
            "pages": self._tally.fetched,
            # Copied in one step each, since the engine counts on while this thread writes.
            "left_out": dict(self._tally.left_out),
            "closed": list(self._tally.closed),
            "slow_s": self._timings.slow_s,
            "operations": {name: asdict(it) for name, it in self._timings.operations().items()},
            "running": [it._asdict() for it in self._timings.running()],
            "strain": asdict(strain_of(self._tally)),
        }
        self._directory.mkdir(exist_ok=True)
        if not self._path.exists():
            _keep_newest(self._directory, KEPT - 1)
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(document), encoding="utf-8")
        temporary.replace(self._path)


def _keep_newest(directory: Path, count: int) -> None:
    oldest_first = sorted(directory.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in oldest_first[: max(0, len(oldest_first) - count)]:
        path.unlink(missing_ok=True)


def _files(data_dir: Path) -> list[Path]:
    try:
        return sorted((data_dir / NAME).iterdir())
    except OSError:
        return []


def _from_document(document: dict[str, Any]) -> ProcessOperations:
    operations = {
        name: Operation(**it | {"buckets": {int(b): n for b, n in it["buckets"].items()}})
        for name, it in document["operations"].items()
    }
    running = [Running(**it) for it in document["running"]]
    read = {"operations": operations, "running": running, "strain": Strain(**document["strain"])}
    return ProcessOperations(**document | read)
