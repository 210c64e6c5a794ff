"""The parts that the page is made of: figures with their data, tables, notes."""

import re
from collections.abc import Sequence

from mannerly.reporting.markup import Markup, element, joined
from mannerly.reporting.plots import Told


def figure(told: Told, drawn: Markup, data: Markup | None = None, sql: str = "") -> Markup:
    """A plot, its caption, and what is behind it to open."""
    caption = element(
        "figcaption", None, element("h3", None, told.title), element("p", None, told.description)
    )
    return element("figure", {"class": "card"}, caption, drawn, _behind(told.title, data, sql))


def section(title: str, data: Markup, sql: str, *, wide: bool) -> Markup:
    """A table with its own heading; `wide`: in all columns of the page."""
    kind = "card wide" if wide else "card"
    heading = element("h3", None, title)
    return element("div", {"class": kind}, heading, data, _behind(title, None, sql))


class Amount(str):
    """A number with its unit: it stands where numbers do."""

    __slots__ = ()


def table(name: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Numbers stand to the right, with their thousands apart. It scrolls where it has no room; so
    that a keyboard can do that, it takes the focus."""
    numeric = [all(isinstance(row[column], int | Amount) for row in rows) and bool(rows)
               for column in range(len(heads))]  # fmt: skip
    kinds = [{"class": "number"} if it else {} for it in numeric]
    head = [element("th", {"scope": "col", **kind}, text)
            for text, kind in zip(heads, kinds, strict=True)]  # fmt: skip
    body = []
    for row in rows:
        cells = zip(row, kinds, strict=True)
        body.append(element("tr", None, *(element("td", kind, _cell(it)) for it, kind in cells)))
    inner = element("table", None, element("thead", None, element("tr", None, *head)),
                    element("tbody", None, *body))  # fmt: skip
    return element(
        "div", {"class": "scroll", "tabindex": 0, "role": "region", "aria-label": name}, inner
    )


def note(words: str) -> Markup:
    """A paragraph; what stands between backticks is code."""
    parts = re.split(r"`([^`]*)`", words)
    return element("p", {"class": "note"}, *(
        element("code", None, part) if index % 2 else part for index, part in enumerate(parts)
    ))  # fmt: skip


def _behind(title: str, data: Markup | None, sql: str) -> Markup:
    if not data and not sql:
        return Markup()
    query = element("pre", {"tabindex": 0, "role": "region", "aria-label": f"Query: {title}"}, sql)
    words = " and ".join([*(["figures"] if data else []), *(["query"] if sql else [])])
    summary = element("summary", None, words.capitalize())
    return element("details", None, summary, joined(data or "", query if sql else ""))


def _cell(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else value
