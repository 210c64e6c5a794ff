"""The contract of a note of what is being read, which outlives the process (`mannerly.store.deaths`
has it). It is how a page that kills who reads it is found."""

from typing import Protocol


class Note(Protocol):
    @property
    def deadly(self) -> frozenset[int]:
        """Hashes of the pages that have ended so many processes that nobody reads them any more."""

    def begin(self, hash_: int) -> None:
        """This page is being read."""

    def end(self) -> None:
        """Nothing is."""


class NoNote:
    """For who cannot be killed by a page, or does not mind."""

    deadly: frozenset[int] = frozenset()

    def begin(self, hash_: int) -> None:
        pass

    def end(self) -> None:
        pass
