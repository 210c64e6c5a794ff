"""Add: a batch is grouped by site and cut into slices, each one call and atomic.

Within a site the URLs go in the order in which they get the room that is left, and slices are sent
in that order, so the server may number them as they come.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from mannerly.errors import FrontierError
from mannerly.frontier.contract import Added
from mannerly.frontier.redis import packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.session import Covered, Session
from mannerly.model import Caps, NewUrl

SLICE = 500
"""URLs a call: a few milliseconds, in which the server does nothing else."""

SLICES = 4
"""Calls a piece of work: sent together, and then a lease of this process may come in between."""

Group = tuple[int, str, list[bytes]]
"""A site's bucket and name, and its URLs, packed."""


class Batch:
    """One call of `add`, ready to be applied piece by piece."""

    def __init__(
        self, session: Session, caps: Caps, urls: Sequence[NewUrl], *, new_sites: bool
    ) -> None:
        self._session = session
        self._head: list[Part] = [caps.pending, caps.spilt, caps.pages, int(new_sites)]
        self._failed = False
        # In turn, so that several nodes of a Cluster work at the same time.
        turns = zip_longest(*(_slices(it) for it in _by_node(session, _by_site(urls))))
        slices = [part for turn in turns for part in turn if part is not None]
        self.pieces = [slices[at : at + SLICES] for at in range(0, len(slices), SLICES)]

    def apply(self, piece: Sequence[Sequence[Group]]) -> Added:
        if self._failed:
            raise FrontierError(f"{self._session.where}: another part of this add failed; resend")
        try:
            answers = self._session.calls("add", [self._call(part) for part in piece])
        except BaseException:
            # The pieces behind it would only wait for the same trouble, one after the other.
            self._failed = True
            raise
        return total([Added(*answer[3:]) for answer in answers])

    def _call(self, part: Sequence[Group]) -> tuple[Covered, list[Part]]:
        arguments = [*self._head, len(part)]
        for bucket, name, packed in part:
            arguments += (bucket, name, len(packed))
            arguments += packed
        return sorted({bucket for bucket, *_ in part}), arguments


def total(parts: Sequence[Added]) -> Added:
    return Added(*map(sum, zip(Added(0, 0, 0), *parts, strict=True)))


def _by_site(urls: Sequence[NewUrl]) -> Iterator[Group]:
    """Without repeats; the first one given stays."""
    members: dict[str, dict[int, NewUrl]] = {}
    for url in urls:
        members.setdefault(url.site, {}).setdefault(url.hash, url)
    for name, by_hash in members.items():
        # Stable: within a priority who was given first is older.
        ordered = sorted(by_hash.values(), key=lambda it: it.priority)
        yield packing.bucket_of(name), name, [packing.given(url) for url in ordered]


def _by_node(session: Session, groups: Iterator[Group]) -> list[Iterable[Group]]:
    """What may go in one call."""
    if not session.is_spread:
        return [groups]
    nodes = session.groups()
    node_of = {bucket: number for number, buckets in enumerate(nodes) for bucket in buckets}
    found: list[list[Group]] = [[] for _ in nodes]
    for group in groups:
        found[node_of[group[0]]].append(group)
    return [*found]


def _slices(groups: Iterable[Group]) -> Iterator[list[Group]]:
    part: list[Group] = []
    size = 0
    for bucket, name, packed in groups:
        for start in range(0, len(packed), SLICE):
            piece = packed[start : start + SLICE]
            if size + len(piece) > SLICE and part:
                yield part
                part, size = [], 0
            part.append((bucket, name, piece))
            size += len(piece)
    if part:
        yield part
