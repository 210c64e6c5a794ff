"""Twins: pages that repeat one seen before on their site. Pure; a bounded memory.

Of each page that is new its hashes are kept with the hash of its URL; a page that repeats one adds
nothing, so what is named is always the *first*. Kept are the latest `PAGES_A_SITE` of a site and,
over all sites, about `PAGES`: the sites that were not read for longest are forgotten first. What is
forgotten is not recognised; nothing is ever named that is not alike.

The memory is this process's own and starts empty, so two processes, or a run and the one before,
do not know each other's pages. Pages are marked as they come; `content_hash` and `simhash` are in
the store for who wants to compare them all.
"""

from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from mannerly.parse.simhash import ROW, Alike, TextPrint, among
from mannerly.quick import quick

PAGES_A_SITE = 4_096
PAGES = 400_000
"""32 bytes each, and a sixteenth more that the arrays have to spare: 14 MB."""


class Likeness(StrEnum):
    """How a page repeats another; the value is what the store has."""

    NONE = ""
    EXACT = "exact"
    """The same bytes."""
    NEAR = "near"
    """Almost the same words."""
    BUT_FOR_DIGITS = "but for digits"
    """The same words with other numbers: no duplicate, but a sign of a trap."""
    CANONICAL = "canonical"
    """The page itself says that another URL is the one to keep."""


@quick
class Twin(NamedTuple):
    likeness: Likeness
    url_hash: int
    """Of the page that was first; 0 for none."""


NO_TWIN = Twin(Likeness.NONE, 0)
_LIKENESS = {
    Alike.EXACT: Likeness.EXACT,
    Alike.NEAR: Likeness.NEAR,
    Alike.BUT_FOR_DIGITS: Likeness.BUT_FOR_DIGITS,
}


@dataclass(slots=True)
class _Pages:
    """The pages of one site: a ring that grows to `PAGES_A_SITE`."""

    rows: "array[int]" = field(default_factory=lambda: array("q"))
    """As `among` wants them."""
    oldest: int = 0
    """Which one goes next, once there is no more room."""

    @property
    def held(self) -> int:
        return len(self.rows) // ROW

    def put(self, row: tuple[int, int, int, int]) -> bool:
        """Whether that made them more."""
        if len(self.rows) < ROW * PAGES_A_SITE:
            self.rows.extend(row)
            return True
        self.rows[ROW * self.oldest : ROW * (self.oldest + 1)] = array("q", row)
        self.oldest = (self.oldest + 1) % PAGES_A_SITE
        return False


class Twins:
    """One per process."""

    def __init__(self, pages: int = PAGES) -> None:
        self._limit = pages
        self._sites: OrderedDict[str, _Pages] = OrderedDict()
        self._held = 0

    def __len__(self) -> int:
        """How many pages are remembered."""
        return self._held

    def meet(
        self,
        site: str,
        url_hash: int,
        content_hash: int,
        text: TextPrint,
        *,
        remember: bool = True,
    ) -> Twin:
        """Which page of the site this one repeats; if none, `remember` it."""
        pages = self._sites.get(site)
        if pages is not None:
            self._sites.move_to_end(site)
            alike, first = among(pages.rows, content_hash, text)
            if alike:
                # Fetched again after a crash or a deferral, a page is not its own twin.
                return NO_TWIN if first == url_hash else Twin(_LIKENESS[Alike(alike)], first)
        if remember:
            self._remember(site, (content_hash, text.simhash, text.but_for_digits, url_hash))
        return NO_TWIN

    def _remember(self, site: str, row: tuple[int, int, int, int]) -> None:
        pages = self._sites.get(site)
        if pages is None:
            pages = self._sites[site] = _Pages()
        self._held += pages.put(row)
        while self._held > self._limit and len(self._sites) > 1:
            _, forgotten = self._sites.popitem(last=False)
            self._held -= forgotten.held
