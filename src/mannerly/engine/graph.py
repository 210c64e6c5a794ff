"""A page's links as the link graph keeps them. No I/O."""

from collections.abc import Iterable

from mannerly.model import Lease, LinkRecord, QueuedUrl
from mannerly.parse.contract import LinkDetail
from mannerly.url import Resolved

_REFRESH = LinkDetail("", "", "meta")
"""What no element has, a meta refresh leads to."""


def link_record(
    lease: Lease,
    page: QueuedUrl,
    links: Iterable[tuple[int, str, Resolved]],
    details: dict[str, LinkDetail],
) -> LinkRecord | None:
    """The links of `page`: position, reference and target of each, distinct targets. None if there
    are none."""
    record = LinkRecord(lease.token, page.url, page.hash, lease.site, [], [], [], [], [], [], [])
    for position, href, target in links:
        anchor, rel, kind = details.get(href, _REFRESH)
        record.target.append(target.url)
        record.target_hash.append(target.hash)
        record.target_site.append(target.site)
        record.anchor.append(anchor)
        record.rel.append(rel)
        record.kind.append(kind)
        record.position.append(position)
    return record if record.target else None
