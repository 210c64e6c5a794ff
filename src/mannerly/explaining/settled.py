"""The answer for a URL that is settled: what became of it, in one sentence. Pure."""

from mannerly.explaining.story import Row, Story
from mannerly.explaining.when import instant

_NO_RECORD = (
    "; its record is not in this data directory (another machine may have it, or it is being "
    "written just now)"
)

_REFUSED = {
    "disallowed": "robots.txt forbids it",
    "robots_unreachable": "robots.txt of its origin could not be read, which means no",
    "excluded": "the exclusion list says no",
}
"""It was never asked for."""

_FAILED = {
    "http_error": "the server answered with an error",
    "no_such_name": "its host does not exist",
    "dns_trouble": "the name of its host could not be looked up",
    "connect_failed": "no connection could be made",
    "tls_failed": "the TLS handshake failed",
    "timed_out": "the visit took longer than it may",
    "broken": "the response broke off or could not be understood",
    "address_refused": "its address is private or otherwise not to be connected to",
}
"""It was tried."""


def settled_answer(story: Story, outcome: str) -> str:
    row = story.fetches[-1] if story.fetches else None
    if outcome == "fetched":
        return _fetched(story, row)
    if outcome == "redirected":
        return _redirected(row)
    if outcome in _REFUSED:
        detail = f" ({row['detail']})" if row is not None and row["detail"] else ""
        decided = f", decided {instant(row['fetched_at'])}" if row is not None else _NO_RECORD
        return f"It was not crawled: {_REFUSED[outcome]}{detail}{decided}."
    return _failed(outcome, row)


def _fetched(story: Story, row: Row | None) -> str:
    if row is None:
        return f"It was crawled{_NO_RECORD}."
    said = f"It was crawled {instant(row['fetched_at'])} (status {row['status']})"
    page = story.page
    if page is not None:
        title = f", title {page['title']!r}" if page["title"] else ""
        repeats = f"; it repeats {story.repeats}" if story.repeats else ""
        cut = "; the body was longer than the limit and is cut" if page["truncated"] else ""
        size = f"{page['characters']:,} characters"
        return f"{said} and its page is stored: {size}{title}{cut}{repeats}."
    kind = str(row["content_type"]) or "no content type"
    return (
        f"{said}, but no page was stored: it asks not to be (noindex), it is a sitemap, or what it "
        f"is is not read ({kind})."
    )


def _redirected(row: Row | None) -> str:
    if row is None:
        return f"It was asked for and redirects{_NO_RECORD}."
    where = f"to {row['redirect_to']}" if row["redirect_to"] else "to nowhere"
    dropped = f", which was not followed: {row['detail']}" if row["detail"] else ""
    return (
        f"It has no page of its own: asked for {instant(row['fetched_at'])}, it redirects {where} "
        f"(status {row['status']}){dropped}."
    )


def _failed(outcome: str, row: Row | None) -> str:
    why = _FAILED.get(outcome, outcome.replace("_", " "))
    if row is None:
        return f"It was tried and has no page: {why}{_NO_RECORD}."
    status = f" {row['status']}" if outcome == "http_error" else ""
    detail = f" ({row['detail']})" if row["detail"] else ""
    tries = int(str(row["tries"]))
    times = f" after {tries} tries" if tries > 1 else ""
    return (
        f"It was tried and has no page: {why}{status}{detail}. That became final "
        f"{instant(row['fetched_at'])}{times}."
    )
