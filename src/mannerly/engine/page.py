"""Reading a response: from what the transport brought to a page record and links. No I/O."""

from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from mannerly.engine.plan import EnginePlan
from mannerly.engine.sieve import Sieve
from mannerly.fetch.contract import Fetched
from mannerly.fetch.decode import decode
from mannerly.model import (
    FetchRecord,
    Lease,
    NewUrl,
    Outcome,
    PageRecord,
    QueuedUrl,
)
from mannerly.parse import parse
from mannerly.politeness.tags import Tags, header_tags, is_over


class Reading(NamedTuple):
    page: PageRecord | None
    links: list[NewUrl]
    links_seen: int


class PageReader:
    """Turns responses into records. One parse per page."""

    def __init__(self, plan: EnginePlan, sieve: Sieve, agent: str) -> None:
        self._plan = plan
        self._sieve = sieve
        self._agent = agent

    def read(self, fetched: Fetched, url: QueuedUrl, lease: Lease, fetched_at: float) -> Reading:
        """A 2xx response: what to store and what to follow."""
        content_type = fetched.header("content-type")
        decoded = decode(fetched.body, fetched.header("content-encoding"), self._plan.body_limit)
        parsed = parse(
            decoded.body, content_type, agent=self._agent, max_links=self._plan.max_links
        )
        if parsed is None:
            return Reading(None, [], 0)
        header = self._header_tags(fetched, fetched_at)
        links: list[NewUrl] = []
        found = 0
        if not (parsed.nofollow or header.nofollow):
            hrefs = [link.href for link in parsed.hrefs if not link.nofollow]
            resolved = self._sieve.resolve(url.url, hrefs, parsed.base)
            found = len(resolved)
            links = self._sieve.links(resolved, url)
        expired = is_over(parsed.unavailable_after, fetched_at)
        if parsed.noindex or header.noindex or expired:
            return Reading(None, links, found)
        page = PageRecord(
            token=lease.token,
            url=url.url,
            url_hash=url.hash,
            site=lease.site,
            fetched_at=fetched_at,
            status=fetched.status,
            content_type=content_type,
            charset=parsed.charset,
            title=parsed.title,
            text=parsed.text,
            language=parsed.language,
            links=found,
            body_bytes=len(decoded.body),
            wire_bytes=len(fetched.body),
            truncated=fetched.truncated or decoded.truncated,
            depth=url.depth,
            referrer_hash=url.referrer,
            content_hash=_signed(xxh3_64_intdigest(decoded.body)),
            duration_s=fetched.ended_at - fetched.started_at,
        )
        return Reading(page, links, found)

    def _header_tags(self, fetched: Fetched, fetched_at: float) -> Tags:
        """Each header by itself: joined, what the second says would be said to the agent that the
        first one names."""
        values = [
            value.decode("latin-1")
            for name, value in fetched.headers
            if name.lower() == b"x-robots-tag"
        ]
        return header_tags(values, self._agent, fetched_at)


def fetch_record(
    lease: Lease,
    url: QueuedUrl,
    outcome: Outcome,
    *,
    fetched_at: float,
    fetched: Fetched | None = None,
    redirect_to: str = "",
    detail: str = "",
) -> FetchRecord:
    """The row that says what became of a URL."""
    asked = fetched is not None
    if fetched is None:
        fetched = Fetched(url.url)
    return FetchRecord(
        token=lease.token,
        url=url.url,
        url_hash=url.hash,
        site=lease.site,
        outcome=outcome.name.lower(),
        status=fetched.status,
        fetched_at=fetched_at,
        duration_s=max(0.0, fetched.ended_at - fetched.started_at) if fetched.started_at else 0.0,
        wire_bytes=len(fetched.body),
        content_type=fetched.header("content-type"),
        redirect_to=redirect_to,
        depth=url.depth,
        tries=url.tries + (1 if asked else 0),
        referrer_hash=url.referrer,
        address=fetched.address,
        detail=detail or fetched.detail,
    )


def _signed(unsigned: int) -> int:
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned
