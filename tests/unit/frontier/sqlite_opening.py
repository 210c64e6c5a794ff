"""How these tests open a frontier."""

import random
from pathlib import Path

from mannerly.clock import InlineExecutor
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import NewUrl, Priority, Source


class StillClock:
    """A clock that stands where it was put."""

    def __init__(self, now_s: float = 5000.0, wall_s: float = 1_800_000_000.0) -> None:
        self.now_s = now_s
        self.wall_s = wall_s

    def now(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return self.wall_s

    def move(self, seconds: float) -> None:
        self.now_s += seconds
        self.wall_s += seconds


def opened(
    path: Path, clock: StillClock | None = None, boot_id: str | None = "boot 1"
) -> SqliteFrontier:
    return SqliteFrontier(
        path,
        clock=clock or StillClock(),
        executor=InlineExecutor(),
        random=random.Random(1),
        boot_id=boot_id,
    )


def url(site: str, number: int, text: str = "") -> NewUrl:
    link = f"https://{site}/{number}{text}"
    return NewUrl(site, number, link, 1, Priority.LINK, Source.LINK, 0)
