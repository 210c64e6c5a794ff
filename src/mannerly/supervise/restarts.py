"""How long to wait before a process that died is replaced, and when to give up. Pure decisions."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
MOST_IN_A_ROW = 5
STEADY_S = 60.0
"""A process that lived so long was well: its death is the first of a row."""


class Restarts:
    """The deaths at one place. One that dies at once, again and again, would do so for ever: what
    is wrong is not going to be mended by the next one."""

    def __init__(self) -> None:
        self.in_a_row = 0

    def pause_s(self, lived_s: float) -> float | None:
        """After a death: the pause before the next one is started; None: give up."""
        self.in_a_row = 1 if lived_s >= STEADY_S else self.in_a_row + 1
        if self.in_a_row >= MOST_IN_A_ROW:
            return None
        return min(FIRST_PAUSE_S * (1 << (self.in_a_row - 1)), LONGEST_PAUSE_S)
