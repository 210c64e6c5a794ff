"""Reading a response: from what the transport brought to a page record and links. No I/O."""

from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from mannerly.engine.careful import NoNote, Note
from mannerly.engine.consumer import NOBODY, Consumer, Response
from mannerly.engine.graph import link_record
from mannerly.engine.novelty import Novelty
from mannerly.engine.plan import EnginePlan
from mannerly.engine.requests import NOTHING, Basis
from mannerly.engine.sieve import Sieve
from mannerly.fetch.contract import Fetched, TlsFacts
from mannerly.fetch.decode import decode
from mannerly.model import OUTCOME_WORDS, Lease, NewUrl, Outcome, QueuedUrl
from mannerly.parse import main_text_of, parse
from mannerly.parse.contract import Parsed
from mannerly.politeness.tags import Tags, header_tags, is_over
from mannerly.quick import quick
from mannerly.records import ExtractRecord, FetchRecord, LinkRecord, PageRecord
from mannerly.url import Resolved

MAX_HEADER = 500
_NO_TAGS = Tags(noindex=False, nofollow=False)
_NO_TLS = TlsFacts("", "", verified=True, problem="")


@quick
class Reading(NamedTuple):
    page: PageRecord | None
    links: list[NewUrl]
    links_seen: int
    may_be_kept: bool
    """Nobody said that no copy may be stored."""
    graph: LinkRecord | None = None
    """The page's links, if the crawl keeps them and storing is allowed."""
    extract: ExtractRecord | None = None
    """What the user's function made of it."""


class PageReader:
    """Turns responses into records. One parse per page."""

    def __init__(
        self,
        plan: EnginePlan,
        sieve: Sieve,
        agent: str,
        consumer: Consumer = NOBODY,
        note: Note | None = None,
    ) -> None:
        self._consumer = consumer
        self._note = note or NoNote()
        self._plan = plan
        self._sieve = sieve
        self._agent = agent
        self._novelty = Novelty(sieve.guard)

    def read(
        self,
        fetched: Fetched,
        url: QueuedUrl,
        lease: Lease,
        fetched_at: float,
        basis: Basis = NOTHING,
    ) -> Reading:
        """A 2xx response, asked for as `basis` allows: what to store and what to follow."""
        self._note.begin(url.hash)
        try:
            return self._read(fetched, url, lease, fetched_at, basis)
        finally:
            self._note.end()

    def is_deadly(self, url: QueuedUrl) -> bool:
        """Has reading it ended so many processes that it is not even asked for?"""
        return url.hash in self._note.deadly

    def _read(
        self, fetched: Fetched, url: QueuedUrl, lease: Lease, fetched_at: float, basis: Basis
    ) -> Reading:
        content_type = fetched.header(b"content-type")
        decoded = decode(fetched.body, fetched.header(b"content-encoding"), self._plan.body_limit)
        parsed = parse(
            decoded.body,
            content_type,
            agent=self._agent,
            max_links=self._plan.max_links,
            anchors=self._plan.keeps_links,
        )
        header = self._header_tags(fetched, fetched_at)
        if parsed is None:
            keep = not (header.noindex or header.noarchive)
            return Reading(None, [], 0, may_be_kept=keep)
        links: list[NewUrl] = []
        found = 0
        graph: LinkRecord | None = None
        follow = not (parsed.nofollow or header.nofollow)
        if self._plan.keeps_links:
            resolved, graph = self._with_graph(parsed.followed, parsed, url, lease)
            if follow:
                found = len(resolved)
                links = self._sieve.links(self._sieve.unknown(resolved), url)
        elif follow:
            found, new = self._sieve.fresh(url.url, parsed.followed, parsed.base)
            links = self._sieve.links(new, url)
        expired = is_over(parsed.unavailable_after, fetched_at)
        stored = not (parsed.noindex or header.noindex or expired)
        canonical = self._canonical(parsed, url, lease.site)
        named = _other_of_site(canonical, url, lease.site)
        content_hash = _signed(xxh3_64_intdigest(decoded.body))
        marks = self._novelty.judge(
            url,
            lease.site,
            content_hash=content_hash,
            text=parsed.text,
            links=links,
            canonical=named.hash if named else 0,
            stored=stored,
        )
        if named and follow:
            links = [link for link in links if link.hash != named.hash]
            links += self._sieve.canonical(named, url)
        if not stored:
            return Reading(None, links, found, may_be_kept=False)
        tls = fetched.tls or _NO_TLS
        headers = fetched.named
        # In the order of its fields: by their names, so many would go by way of a dictionary.
        page = PageRecord(
            lease.token,
            url.url,
            url.hash,
            lease.site,
            fetched_at,
            fetched.status,
            content_type,
            parsed.charset,
            parsed.title,
            parsed.text,
            parsed.language,
            found,
            len(decoded.body),
            len(fetched.body),
            fetched.truncated or decoded.truncated,
            url.depth,
            url.referrer,
            content_hash,
            fetched.ended_at - fetched.started_at,
            told_by(headers, b"last-modified"),
            told_by(headers, b"etag"),
            told_by(headers, b"cache-control"),
            told_by(headers, b"server"),
            told_by(headers, b"content-language"),
            fetched.address,
            fetched.dns_s,
            fetched.connect_s,
            fetched.first_byte_s,
            tls.version,
            tls.cipher,
            "" if tls.verified else tls.problem,
            basis.version,
            basis.line,
            marks.simhash,
            marks.duplicate,
            marks.duplicate_of,
            parsed.description,
            canonical.url if canonical is not None else "",
            parsed.open_graph,
            tuple(parsed.headings),
            main_text_of(decoded.body, content_type) if self._plan.keeps_main_text else "",
        )
        keep = not (parsed.noarchive or header.noarchive)
        extract = self._extract(page, fetched, decoded.body) if self._consumer.extracts else None
        return Reading(page, links, found, may_be_kept=keep, graph=graph, extract=extract)

    def _with_graph(
        self, followed: list[str], parsed: Parsed, url: QueuedUrl, lease: Lease
    ) -> tuple[list[Resolved], LinkRecord | None]:
        """What `followed` leads to, and the record of all links, the others too.

        Resolved at once, because that is the dear part; `followed` first, so that whoever keeps no
        links follows the same ones.
        """
        all_links = parsed.hrefs
        hrefs = followed + [link.href for link in all_links if link.nofollow]
        indices: list[int] = []
        targets = self._sieve.resolve(url.url, hrefs, parsed.base, positions=indices)
        place = {link.href: position for position, link in enumerate(all_links)}
        positions = [place[hrefs[index]] for index in indices]
        links = [
            (position, all_links[position], target)
            for position, target in zip(positions, targets, strict=True)
        ]
        ours = sum(index < len(followed) for index in indices)
        return targets[:ours], link_record(lease, url, links, parsed.anchors)

    def _extract(self, page: PageRecord, fetched: Fetched, body: bytes) -> ExtractRecord | None:
        headers: dict[str, str] = {}
        for raw_name, raw_value in fetched.headers:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        data = self._consumer.extract(
            Response(
                url=page.url,
                status=page.status,
                headers=headers,
                content=body,
                charset=page.charset,
                title=page.title,
                text=page.text,
                language=page.language,
            )
        )
        if not data:
            return None
        return ExtractRecord(page.token, page.url, page.url_hash, page.site, page.fetched_at, data)

    def _canonical(self, parsed: Parsed, url: QueuedUrl, site: str) -> Resolved | None:
        """The URL that the page names as canonical, if it does: nearly always its own."""
        if not parsed.canonical:
            return None
        if parsed.canonical == url.url and "?" not in url.url and ";" not in url.url:
            return Resolved(url.url, url.hash, site)
        return next(iter(self._sieve.resolve(url.url, [parsed.canonical], parsed.base)), None)

    def _header_tags(self, fetched: Fetched, fetched_at: float) -> Tags:
        """Each header by itself: joined, what the second says would be said to the agent that the
        first one names."""
        values = fetched.values(b"x-robots-tag")
        if not values:
            return _NO_TAGS
        told = (value.decode("latin-1") for value in values)
        return header_tags(told, self._agent, fetched_at)


def _other_of_site(named: Resolved | None, url: QueuedUrl, site: str) -> Resolved | None:
    """What a page names as canonical, if that is another URL of its site. Another site's word is
    not taken for whose page it is."""
    is_other = named is not None and named.site == site and named.hash != url.hash
    return named if is_other else None


def told_by(headers: dict[bytes, list[bytes]], name: bytes) -> str:
    """A header that becomes a column: of repeats the last. Bounded."""
    values = headers.get(name)
    return values[-1][:MAX_HEADER].decode("latin-1").strip() if values else ""


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
        lease.token,
        url.url,
        url.hash,
        lease.site,
        OUTCOME_WORDS[outcome],
        fetched.status,
        fetched_at,
        max(0.0, fetched.ended_at - fetched.started_at) if fetched.started_at else 0.0,
        len(fetched.body),
        fetched.header(b"content-type"),
        redirect_to,
        url.depth,
        url.tries + (1 if asked else 0),
        url.referrer,
        fetched.address,
        detail or fetched.detail,
    )


def _signed(unsigned: int) -> int:
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned
