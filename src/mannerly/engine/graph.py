"""A page's links as the link graph keeps them. No I/O."""

from collections.abc import Iterable, Mapping

from mannerly.model import Lease, QueuedUrl
from mannerly.parse.contract import Href, LinkKind
from mannerly.records import LinkRecord
from mannerly.url import Resolved

_ELEMENTS = {
    LinkKind.ANCHOR: "a",
    LinkKind.AREA: "area",
    LinkKind.FRAME: "frame",
    LinkKind.REFRESH: "meta",
    LinkKind.CANONICAL: "link",
    LinkKind.ALTERNATE: "link",
    LinkKind.NEXT: "link",
}
_RELATIONS = {
    LinkKind.CANONICAL: "canonical",
    LinkKind.ALTERNATE: "alternate",
    LinkKind.NEXT: "next",
}


def link_record(
    lease: Lease,
    page: QueuedUrl,
    links: Iterable[tuple[int, Href, Resolved]],
    anchors: Mapping[str, str],
) -> LinkRecord | None:
    """The links of `page`: position, reference and target of each, distinct targets, and the words
    by reference. None if there are none."""
    record = LinkRecord(lease.token, page.url, page.hash, lease.site, [], [], [], [], [], [], [])
    for position, link, target in links:
        record.target.append(target.url)
        record.target_hash.append(target.hash)
        record.target_site.append(target.site)
        record.anchor.append(anchors.get(link.href, ""))
        record.rel.append(_relation(link))
        record.kind.append(_ELEMENTS[link.kind])
        record.position.append(position)
    return record if record.target else None


def _relation(link: Href) -> str:
    if not link.nofollow:
        return _RELATIONS.get(link.kind, "")
    marks = {"nofollow": True, "ugc": link.ugc, "sponsored": link.sponsored}
    return " ".join(name for name, is_set in marks.items() if is_set)
