"""What a page gives that its site did not give before: marks for the store, news for the guard.

A page is stored whether it repeats another or not: what is a copy is for who reads the store to
decide, and a canonical link is a site's opinion, often a wrong one (every page names the home
page). What is found in the content is believed before what the page says. A page that names another
as canonical is never what others repeat: else each of the two could be marked as a copy of the
other.
"""

from typing import NamedTuple

from mannerly.engine.twins import Likeness, Twin, Twins
from mannerly.model import NewUrl, QueuedUrl
from mannerly.parse.simhash import text_print
from mannerly.quick import quick
from mannerly.url.yields import Gave, YieldGuard

LOOKED_AT = 50
"""Links of a page that repeats, to see whether it leads anywhere."""


@quick
class Marks(NamedTuple):
    """Three columns of the page's row."""

    simhash: int
    duplicate: str
    duplicate_of: int


class Novelty:
    """One per process: what was read before, and what follows from it."""

    def __init__(self, guard: YieldGuard | None) -> None:
        """`guard` hears of every page; None if there is none."""
        self._guard = guard
        self._twins = Twins()

    def judge(
        self,
        url: QueuedUrl,
        site: str,
        *,
        content_hash: int,
        text: str,
        links: list[NewUrl],
        canonical: int,
        stored: bool,
    ) -> Marks:
        """Of a page that was read. `links` are those that are new, `canonical` the hash of another
        URL of the site that it names, 0 for none."""
        found = text_print(text)
        twin = self._twins.meet(
            # A page that is not stored is compared, but with others of its kind: what a stored one
            # is said to repeat is in the store.
            site if stored else f"{site} unstored",
            url.hash,
            content_hash,
            found,
            remember=not canonical,
        )
        if self._guard is not None:
            self._guard.note(site, url.url, self._gave(url, site, twin, links, canonical))
        if twin.likeness in (Likeness.EXACT, Likeness.NEAR):
            return Marks(found.simhash, twin.likeness, twin.url_hash)
        if canonical:
            return Marks(found.simhash, Likeness.CANONICAL, canonical)
        return Marks(found.simhash, Likeness.NONE, 0)

    def _gave(
        self, url: QueuedUrl, site: str, twin: Twin, links: list[NewUrl], canonical: int
    ) -> Gave:
        if twin.likeness is Likeness.NONE and not canonical:
            return Gave.SOMETHING_NEW
        guard = self._guard
        if guard is not None and any(
            guard.leads(site, url.url, link.url) for link in links[:LOOKED_AT] if link.site == site
        ):
            return Gave.LINKS_ONLY
        return Gave.NOTHING if twin.likeness in (Likeness.EXACT, Likeness.NEAR) else Gave.LITTLE
