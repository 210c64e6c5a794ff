"""How much of one site the frontier takes. Pure: the same on every engine.

A site's new URL goes into its queue while there is room, else into its spill, else it is dropped.
`pages + pending` never exceeds the cap on pages, so a site never gives more of them; a URL that
fails makes room for another. When a site has given all its pages, its spill is dropped.

What is spilt comes back when the site is released with its queue at most half full: a portion each
time, so that no commit becomes long. The half keeps a site from moving URLs with every visit.
"""

from mannerly.model import Caps, DropCause

PORTION = 200
"""URLs of one site that come back from the spill in one release."""

NO_LIMIT = 2**62


def room(caps: Caps, *, pending: int, pages: int) -> int:
    """How many more URLs the site's queue takes."""
    by_pending = caps.pending - pending if caps.pending else NO_LIMIT
    by_pages = caps.pages - pages - pending if caps.pages else NO_LIMIT
    return max(0, min(by_pending, by_pages))


def spill_room(caps: Caps, *, pages: int, spilt: int) -> int:
    """How many more URLs the site's spill takes. Never more than its pages could ever need."""
    by_spilt = caps.spilt - spilt if caps.spilt else NO_LIMIT
    by_pages = caps.pages - pages - spilt if caps.pages else NO_LIMIT
    return max(0, min(by_spilt, by_pages))


def coming_back(caps: Caps, *, pending: int, pages: int, spilt: int) -> int:
    """How many spilt URLs move into the queue of a site that is released with these counts."""
    if caps.pending and 2 * pending > caps.pending:
        return 0
    return min(spilt, PORTION, room(caps, pending=pending, pages=pages))


def is_full(caps: Caps, *, pages: int) -> bool:
    """The site has given all the pages it may: what is spilt will never be needed."""
    return 0 < caps.pages <= pages


def drop_cause(caps: Caps, *, pages: int) -> DropCause:
    """Why a site whose queue and spill take no more takes no more."""
    return DropCause.SITE_FULL if is_full(caps, pages=pages) else DropCause.SPILL_FULL
