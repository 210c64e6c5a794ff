"""Traps: pages without end, on sites of their own.

Each trap page links to more of its kind; a crawler gets out by its own limits only.
"""

import re
from html import escape

from mannerly.simweb.chance import draw
from mannerly.simweb.graph import Drawn
from mannerly.simweb.site import Site, Trap

_CALENDAR = re.compile(r"/calendar\?month=(-?[0-9]{1,9})&view=list")
_SESSION = re.compile(r"/shelf/item-([0-9])(?:;jsessionid=[0-9A-F]{16}|\?sid=[0-9a-f]{16})")
_GROWING = re.compile(r"/maze/(?:[ab]/)*")


def entrance(site: Site) -> str:
    """The URL that leads into a trap site's trap."""
    if site.trap is Trap.CALENDAR:
        return f"{site.home}calendar?month=0&view=list"
    if site.trap is Trap.SESSION:
        return f"{site.home}shelf/item-0?sid={site.salt:016x}"
    return f"{site.home}maze/"


def links(site: Site, target: str) -> Drawn | None:
    """The links of the trap page at `target`; None if there is no such page."""
    if site.trap is Trap.CALENDAR and (month := _CALENDAR.fullmatch(target)):
        now = int(month[1])
        paths = [f"/calendar?month={now + step}&view=list" for step in (-12, -1, 1, 12)]
    elif site.trap is Trap.SESSION and _SESSION.fullmatch(target):
        sid = draw(site.salt, target.encode())
        paths = [f"/shelf/item-{item}{_session(sid, item)}" for item in range(10)]
    elif site.trap is Trap.GROWING and _GROWING.fullmatch(target):
        urls = [f"{site.origin}{target}{step}" for step in ("a/", "b/")]
        return Drawn(urls, ["a/", "b/"], frozenset())
    else:
        return None
    urls = [f"{site.origin}{path}" for path in paths]
    return Drawn(urls, [escape(path) for path in paths], frozenset())


def _session(sid: int, item: int) -> str:
    return f";jsessionid={sid:016X}" if item % 2 else f"?sid={sid:016x}"
