"""Redirects: all five statuses, absolute and relative targets, chains and loops."""

from mannerly.simweb.answer import Answer, Kind
from mannerly.simweb.pages import Page, Pages
from mannerly.simweb.site import Site

STATUSES = (301, 302, 303, 307, 308)
LAST_HOP = {Kind.CHAIN: 2, Kind.LOOP: 1}
"""The later steps of chains and loops are the page's URL with `;hop=1` and so on after it."""


def without_hop(target: str) -> tuple[str, int]:
    """A path and the step in it, 0 for none."""
    if target[-6:-1] == ";hop=" and target[-1] in "12":
        return target[:-6], int(target[-1])
    return target, 0


def sent_on(
    status: int, target: str, kind: Kind = Kind.INSIDE, *, relative: bool = False
) -> Answer:
    """A redirect. `relative` writes the Location without scheme and host."""
    written = target[target.find("/", 8) :] if relative else target
    return Answer(kind, status, location=target, extra=(("Location", written),))


def sent_elsewhere(page: Page, target: str, kind: Kind = Kind.INSIDE) -> Answer:
    """What a page that has moved answers."""
    return sent_on(_status(page), target, kind, relative=_relative(page, target))


def chained(pages: Pages, site: Site, page: Page, hop: int) -> Answer:
    """Step `hop` of a chain of three redirects; the last one leads to a page of the site."""
    target = (
        f"{page.url};hop={hop + 1}"
        if hop < LAST_HOP[Kind.CHAIN]
        else pages.url(site, page.key % site.hubs)
    )
    return sent_on(_status(page), target, Kind.CHAIN, relative=_relative(page, target))


def looped(page: Page, hop: int) -> Answer:
    """Step `hop` of a loop: the page, itself with a suffix, the page again."""
    target = page.url if hop else f"{page.url};hop=1"
    return sent_on(_status(page), target, Kind.LOOP, relative=_relative(page, target))


def _status(page: Page) -> int:
    return STATUSES[(page.key >> 45) % 5]


def _relative(page: Page, target: str) -> bool:
    origin = page.url[: page.url.find("/", 8) + 1]
    return bool(page.key >> 48 & 1) and target.startswith(origin)
