"""The clock of the processes under test, for every engine."""


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 5000.0
        self.wall_s = 1_800_000_000.0

    def now(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return self.wall_s
