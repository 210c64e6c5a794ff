"""HTML and SVG by construction: whatever is not `Markup` is text, and is escaped.

Elements are made by `element` alone, so no string of the web's can become markup by being
forgotten. What is neither printable nor a blank (NUL, escape codes, marks that turn the direction
of writing) is shown as U+FFFD.
"""

import unicodedata
from collections.abc import Mapping
from html import escape

Attributes = Mapping[str, object]

_EMPTY = frozenset({"meta", "line", "path", "rect", "circle", "br"})
"""Elements that never have content."""


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """`value` as a reader sees it."""
    shown = str(value)
    if not shown.isprintable():
        shown = "".join(char if _harmless(char) else "\ufffd" for char in shown)
    return Markup(escape(shown, quote=True))


def _harmless(char: str) -> bool:
    return char.isprintable() or char in "\n\t" or unicodedata.category(char) == "Zs"


def joined(*parts: object) -> Markup:
    return Markup("".join(part if isinstance(part, Markup) else text(part) for part in parts))


def element(name: str, attributes: Attributes | None = None, *content: object) -> Markup:
    """An attribute that is None is left out; `_` in its name stands for `-`."""
    told = "".join(
        f' {key.replace("_", "-")}="{text(value)}"'
        for key, value in (attributes or {}).items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{told}/>")
    return Markup(f"<{name}{told}>{joined(*content)}</{name}>")


def link(url: str, shown: str = "") -> Markup:
    """To a page of the crawl, if that is what it is."""
    if not url.startswith(("http://", "https://")):
        return text(shown or url)
    return element("a", {"href": url, "rel": "noreferrer noopener"}, shown or url)
