"""Exchanges on their way into the journal: compressed once, and repeats told from originals.

What is journalled are the gzip members as they will stand in a WARC file, so that an exchange is
compressed once, rolling is copying, and rolling twice gives the same bytes.

A payload that this process has stored before becomes a revisit of that record. Only records that
*count* are ever referred to: a digest is known from the moment its batch is settled, and not if
its lease was refused. So no revisit points to a record that is in no file.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from mannerly.records import Exchange
from mannerly.store.warc import records
from mannerly.store.warc.records import Original

KNOWN_PAYLOADS = 32_768
"""About 400 bytes each; the longest unseen go first."""
LEAST_BYTES = 512
"""A shorter payload is not worth a reference, which is longer."""


class WarcRow(NamedTuple):
    """An exchange in the journal, or (`kind` warcinfo) what opens a file."""

    token: int
    kind: str
    """`response`, `revisit` or `warcinfo`."""
    url: str
    fetched_at: float
    status: int
    content_type: str
    digest: str
    first_bytes: int
    """Size of the first member: what the index points to."""
    members: bytes


class _Candidate(NamedTuple):
    token: int
    digest: str
    original: Original


class Archivist:
    """For one writer. Not for two threads at once."""

    def __init__(
        self, writer: int, facts: Sequence[tuple[str, str]], limit: int = KNOWN_PAYLOADS
    ) -> None:
        """`facts` are those of the crawl, for the warcinfo records."""
        self._writer = writer
        self._facts = facts
        self._limit = limit
        self._known: OrderedDict[str, Original] = OrderedDict()
        self._unsettled: tuple[int, list[_Candidate]] = (0, [])

    def rows(
        self, sequence: int, exchanges: Sequence[Exchange], written_at: float
    ) -> list[WarcRow]:
        """What to journal of a batch. Every batch brings the record that a file would begin with;
        of those that end up in one file the first is used."""
        if not exchanges:
            return []
        candidates: list[_Candidate] = []
        salt = f"{self._writer:016x} {sequence}"
        info = records.warcinfo(self._facts, written_at, salt)
        found = [WarcRow(0, "warcinfo", "", written_at, 0, "", "", len(info), info)]
        for index, exchange in enumerate(exchanges):
            digest = records.digest_of(exchange.body)
            known = self._original(digest) if len(exchange.body) >= LEAST_BYTES else None
            made = records.members(exchange, digest, known, f"{salt} {index}")
            if known is None and len(exchange.body) >= LEAST_BYTES:
                candidates.append(_Candidate(exchange.token, digest, made.original))
            found.append(_row(exchange, made, repeated=known is not None))
        # Of a sequence that is written anew, the later batch counts.
        self._unsettled = (sequence, candidates)
        return found

    def settled(self, sequence: int, refused: Collection[int]) -> None:
        """The batch counts, but for the refused tokens."""
        candidates = self._unsettled[1] if self._unsettled[0] == sequence else []
        self._unsettled = (0, [])
        self._learn(c for c in candidates if c.token not in refused)

    def _original(self, digest: str) -> Original | None:
        known = self._known.get(digest)
        if known is not None:
            self._known.move_to_end(digest)
        return known

    def _learn(self, candidates: Iterable[_Candidate]) -> None:
        for candidate in candidates:
            self._known.setdefault(candidate.digest, candidate.original)
        while len(self._known) > self._limit:
            self._known.popitem(last=False)


def _row(exchange: Exchange, made: records.Members, *, repeated: bool) -> WarcRow:
    return WarcRow(
        token=exchange.token,
        kind="revisit" if repeated else "response",
        url=exchange.url,
        fetched_at=exchange.fetched_at,
        status=exchange.status,
        content_type=_mime(exchange.headers),
        digest=made.digest,
        first_bytes=made.first_bytes,
        members=made.data,
    )


def _mime(headers: list[tuple[bytes, bytes]]) -> str:
    for name, value in headers:
        if name.lower() == b"content-type":
            return value.partition(b";")[0].strip().lower().decode("latin-1")
    return ""
