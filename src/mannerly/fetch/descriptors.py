"""File descriptors are budgeted at start-up and never run out later.

A fetch under way holds one descriptor, its socket, from `connect` to the end of the visit. A socket
that was given up is closed by the event loop a moment later, so somewhat more are open than fetches
are under way: an eighth is set aside for that. Names are asked for on a few sockets that all
fetches share, which, with the database, the journal, the event loop and the standard streams, is
the reserve.
"""

import resource
from typing import Final, NamedTuple

from mannerly.errors import UsageError

CLOSING_SHARE: Final = 8
"""One in so many sockets may still be closing."""
RESERVE: Final = 128


class Budget(NamedTuple):
    soft_to_set: int
    """The soft limit to run with; the present one if it is enough."""
    workers: int
    """How many fetches may be under way at once."""
    message: str | None
    """What to tell the user, if it is not what was asked for."""


def budget(soft: int, hard: int, wanted_workers: int, reserve: int = RESERVE) -> Budget:
    """Decide. Limits are as `getrlimit` gives them; `RLIM_INFINITY` is more than anything.

    Raises `UsageError` where not even one fetch fits.
    """
    needed = wanted_workers + wanted_workers // CLOSING_SHARE + reserve
    if _at_least(soft, needed):
        return Budget(soft, wanted_workers, None)
    if _at_least(hard, needed):
        return Budget(needed, wanted_workers, None)
    workers = (hard - reserve) * CLOSING_SHARE // (CLOSING_SHARE + 1)
    if workers < 1:
        raise UsageError(
            f"the limit of {hard} open files leaves none for fetching: "
            f"raise it to {needed} (ulimit -Hn {needed})"
        )
    return Budget(
        hard,
        workers,
        f"the limit of {hard} open files allows {workers} fetches at once instead of "
        f"{wanted_workers}: raise it to {needed} (ulimit -Hn {needed}) for all of them",
    )


def apply(wanted_workers: int, reserve: int = RESERVE) -> Budget:
    """Decide for this process, and raise its soft limit where that is part of the decision."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    decided = budget(soft, hard, wanted_workers, reserve)
    if decided.soft_to_set != soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (decided.soft_to_set, hard))
    return decided


def _at_least(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed
