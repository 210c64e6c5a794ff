"""What the store has of a URL, in words: fits 80 columns, and obeys no page."""

import datetime as dt
import json
import textwrap

from mannerly.reading.looking import Found, Row
from mannerly.reading.values import plain, printable

WIDTH = 80
_LABEL = 16
_PREVIEW_CHARS = 800
_HEADINGS_SHOWN = 10
_TOLD_APART = {"url", "url_hash", "title", "text", "main_text", "headings", "duplicate_of"}


def lines_of(found: Found) -> list[str]:
    lines = [found.url]
    for page in found.pages:
        lines += ["", *_page_lines(page)]
    if not found.pages:
        lines += ["", "no page is stored of it"]
    if found.repeats:
        lines += ["", f"repeats (the last page, {found.pages[-1]['duplicate']})"]
        lines += _wrapped(found.repeats, "  ")
    for extract in found.extracts:
        lines += ["", "extract", *_wrapped(extract["data"], "  ")]
    lines += ["", "fetches"]
    for fetch in found.fetches:
        lines += _fetch_lines(fetch)
    if not found.fetches:
        lines.append("  none")
    return lines


def document_of(found: Found) -> dict[str, object]:
    """For programs: all columns, texts included."""
    return {
        "url": found.url,
        "pages": plain(found.pages),
        "fetches": plain(found.fetches),
        "extracts": [
            {**it, "data": json.loads(it["data"]), "fetched_at": plain(it["fetched_at"])}
            for it in found.extracts
        ],
        "repeats": found.repeats,
    }


def _page_lines(page: Row) -> list[str]:
    lines = _wrapped(page["title"] or "(no title)", "  ")
    facts = {name: value for name, value in page.items() if name not in _TOLD_APART}
    for name, value in facts.items():
        if shown := _shown(name, value):
            body = _wrapped(shown, " " * (_LABEL + 2))
            lines.append(f"  {name:{_LABEL}}{body[0].strip()}")
            lines += body[1:]
    if page["headings"]:
        lines.append(f"  {'headings':{_LABEL}}{len(page['headings'])}")
        for heading in page["headings"][:_HEADINGS_SHOWN]:
            lines += _wrapped(heading["text"], "  " + "  " * heading["level"] + "- ")[:1]
    if page["main_text"]:
        lines.append(f"  {'main_text':{_LABEL}}{len(page['main_text']):,} characters")
    text = page["text"]
    lines.append(f"  {'text':{_LABEL}}{len(text):,} characters")
    lines += _wrapped(text[:_PREVIEW_CHARS], "  | ")
    if len(text) > _PREVIEW_CHARS:
        lines.append("  | … (--text prints all of it)")
    return lines


def _fetch_lines(fetch: Row) -> list[str]:
    head = f"  {_shown('fetched_at', fetch['fetched_at'])}  {fetch['outcome']}"
    if fetch["status"]:
        head += f", status {fetch['status']}, {fetch['wire_bytes']:,} bytes"
        head += f" in {fetch['duration_s']:.3g} s"
    lines = [head]
    for name in ("redirect_to", "detail"):
        if fetch[name]:
            lines += _wrapped(f"{name.replace('_', ' ')} {fetch[name]}", "    ")
    return lines


def _shown(name: str, value: object) -> str:
    """'' for what is not known."""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="seconds") + " UTC"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        is_number = not name.endswith("_hash") and name != "status"
        return f"{value:,}" if is_number else str(value)
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None or value in ("", [], {}) else str(plain(value))


def _wrapped(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(
        printable(text), WIDTH, initial_indent=indent, subsequent_indent=indent,
        break_on_hyphens=False,
    )  # fmt: skip
    return lines or [indent.rstrip()]
