"""What processes left that died in a data directory is finished: their pages count or are void, as
the frontier says, and their sites come back after a delay."""

import logging
from pathlib import Path

from mannerly.clock import Executor, InlineExecutor
from mannerly.frontier.contract import Frontier, WriterState
from mannerly.store import Recovered, dead_writers, recover
from mannerly.store.deaths import count_deaths
from mannerly.store.disk import DISK, Disk

log = logging.getLogger(__name__)


async def release_what_the_dead_hold(frontier: Frontier, data_dir: Path, rest_s: float) -> None:
    """Their sites come back; their journals are left to the next start, as after a kill. For an end
    that must not take long: to roll what several left can take longer than all else."""
    for writer in dead_writers(data_dir):
        await frontier.retire(writer, rest_s)


async def bring_back_the_dead(
    frontier: Frontier,
    data_dir: Path,
    rest_s: float,
    executor: Executor | None = None,
    *,
    disk: Disk = DISK,
) -> Recovered:
    """May be killed and run again. The frontier is told of a death before it is asked how far the
    dead came, so that no commit of theirs can arrive late (`mannerly.store.recovery`). Journals are
    finished on `executor`, or else here and now."""
    dead = dead_writers(data_dir)
    if not dead:
        return Recovered()
    states: dict[int, WriterState | None] = {}
    for writer in dead:
        await frontier.retire(writer, rest_s)
        states[writer] = await frontier.writer_state(writer)
    count_deaths(data_dir, dead)
    recovered = await (executor or InlineExecutor()).run(
        lambda: recover(data_dir, states.get, writers=dead, disk=disk)
    )
    log.info(
        "an earlier process was cut off: %d pages recovered, what was in flight is fetched again",
        recovered.rows["pages"],
    )
    for path in recovered.set_aside:
        log.warning("nobody can vouch for %s; it was set aside", path)
    return recovered
