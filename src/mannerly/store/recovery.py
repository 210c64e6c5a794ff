"""Recovery: what dead writers left in their journals is rolled or found void.

Who asks, asks in this order, so that no commit of a dead process can arrive late and settle URLs
whose records were already thrown away:

1. `dead_writers(data_dir)`: whose lock is free;
2. the frontier is told of each death (`retire`), and *then* asked how far it came (`writer_state`);
3. `recover(data_dir, state_of, writers=...)`.

Recovery may itself be killed at any step and run again, by several processes at once: it holds a
writer's lock while it works on it, and every step is one of `mannerly.store.rolling`.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from mannerly.errors import StoreError
from mannerly.store import frames, rolling, segments
from mannerly.store.disk import DISK, Disk
from mannerly.store.layout import Layout
from mannerly.store.lock import WriterLock
from mannerly.store.segments import Refused, Segment

StateOf = Callable[[int], tuple[int, Refused] | None]


@dataclass(slots=True)
class Recovered:
    """What a recovery found and did."""

    writers: list[int] = field(default_factory=list)
    """Dead; nothing of theirs is left in the journal."""
    live: list[int] = field(default_factory=list)
    """Left alone: their processes live, or another recovery is at it."""
    batches_kept: int = 0
    batches_void: int = 0
    """Never committed: their URLs are pending and will be fetched again. What happened under them
    is kept (lasting tables)."""
    batches_missing: int = 0
    """Committed, and yet not readable: the disk is damaged. What is left of their segments is in
    `set_aside`."""
    rows: Counter[str] = field(default_factory=Counter)
    """Kept, by table."""
    set_aside: list[Path] = field(default_factory=list)
    """Segments moved to `lost+found`, because the frontier does not know their writer or because
    they are damaged."""


def dead_writers(data_dir: Path) -> list[int]:
    """The writers that have a journal and no living process."""
    layout = Layout(data_dir)
    dead = []
    for writer in layout.writers():
        try:
            lock = WriterLock.take(layout.writer_dir(writer))
        except FileNotFoundError:
            continue
        if lock is not None:
            lock.release()
            dead.append(writer)
    return dead


def recover(
    data_dir: Path, state_of: StateOf, *, writers: Collection[int], disk: Disk = DISK
) -> Recovered:
    """Finish the journals of `writers` that are dead.

    `state_of` gives a writer's `WriterState` (last committed sequence, what was refused in it), or
    None if the frontier never heard of it. Only `writers` are touched: one that died since the
    frontier was asked must not be mistaken for one that the frontier does not know.
    """
    layout = Layout(data_dir)
    report = Recovered()
    for writer in sorted(writers):
        try:
            lock = WriterLock.take(layout.writer_dir(writer))
        except FileNotFoundError:
            continue  # another recovery has finished it
        if lock is None:
            report.live.append(writer)
            continue
        try:
            _recover_one(disk, layout, writer, state_of(writer), report)
        except OSError as exc:
            raise StoreError(f"cannot recover the journal: {exc.strerror or exc}") from exc
        finally:
            lock.remove()
        report.writers.append(writer)
    return report


def _recover_one(
    disk: Disk, layout: Layout, writer: int, state: tuple[int, Refused] | None, report: Recovered
) -> None:
    layout.make()
    for path in layout.unfinished(writer):
        disk.remove(path)
    journal = segments.read_journal(layout, writer)
    if state is None:
        doubtful = [segment for segment in journal if segment.batches or segment.torn]
        vouched, void = {}, 0
    else:
        missing = segments.missing(journal, state[0])
        if missing:
            journal = segments.read_journal(layout, writer, past_damage=True)
        report.batches_missing += len(segments.missing(journal, state[0]))
        doubtful = [segment for segment in journal if _is_damaged(segment, missing)]
        vouched = segments.vouched_by_frontier(journal, *state)
        void = len({number for s in journal for number in s.batches} - vouched.keys())
    for segment in doubtful:
        report.set_aside.append(_set_aside(disk, layout, writer, segment))
    # Of a writer that the frontier does not know nothing is believed: it is all set aside.
    plan = segments.counted(journal, vouched, void=state is not None)
    for segment, batches in zip(journal, plan, strict=True):
        rolled = rolling.roll(disk, layout, writer, segment.number, batches)
        rolling.discard(disk, segment.path)
        report.batches_kept += sum(batch.refused is not None for batch in batches)
        report.rows += rolled.rows
    report.batches_void += void


def _is_damaged(segment: Segment, missing: Collection[int]) -> bool:
    """Whether what is behind the last whole frame may be more than what a crash tore off."""
    if segment.after is None:
        return segment.path.stat().st_size > frames.HEADER_BYTES
    return segment.torn and bool(missing)


def _set_aside(disk: Disk, layout: Layout, writer: int, segment: Segment) -> Path:
    """Give the segment a second name that outlives the journal's."""
    path = layout.set_aside(writer, segment.number)
    layout.lost.mkdir(exist_ok=True)
    disk.sync_dir(layout.root)
    disk.link(segment.path, path)
    disk.sync_dir(layout.lost)
    return path
