"""What goes to and comes from the functions as bytes. The other side: `functions/20_layout.lua`."""

import struct
from zlib import crc32

from mannerly.frontier.rows import SiteRow
from mannerly.model import NewUrl, QueuedUrl, RobotsRecord, RobotsState

BUCKETS = 32
"""Never changes: it tells where a site's keys are."""

SEQS = 2**36
LOWEST_PRIORITY = -(2**15)

_GIVEN = struct.Struct(">hqqIHB")
"""priority, then a queued URL: hash, referrer, depth, tries, source. Its text follows."""
_QUEUED = struct.Struct(">qqIHB")
_NUMBER = struct.Struct(">q")
_ROBOTS = struct.Struct(">BdI")
_ENTRY = struct.Struct(">qB")
_WRITER = struct.Struct(">Bd")
_SITE = struct.Struct(">BdddIIIIII")
"""state, ready_at, delay, dropped, failures, pending, pages, spilt, known, leaves; then a name."""


def bucket_of(site: str) -> int:
    return crc32(site.encode()) % BUCKETS


def number(value: int) -> bytes:
    """A hash or a token."""
    return _NUMBER.pack(value)


def numbers(packed: bytes) -> list[int]:
    return [value for (value,) in _NUMBER.iter_unpack(packed)]


def given(url: NewUrl) -> bytes:
    _, hash_, text, depth, priority, source, referrer = url
    return _GIVEN.pack(priority, hash_, referrer, depth, 0, source) + text.encode()


def member(url: QueuedUrl) -> bytes:
    numbers_ = (url.hash, url.referrer, url.depth, url.tries, url.source)
    return _QUEUED.pack(*numbers_) + url.url.encode()


def place(priority: int, seq: int) -> int:
    """As a score: exact, because it is below 2**53."""
    return (priority - LOWEST_PRIORITY) * SEQS + seq


def queued(member: bytes, score: bytes) -> QueuedUrl:
    hash_, referrer, depth, tries, source = _QUEUED.unpack_from(member)
    priority, seq = divmod(int(score), SEQS)
    text = member[_QUEUED.size :].decode()
    return QueuedUrl(text, hash_, depth, priority + LOWEST_PRIORITY, seq, source, referrer, tries)


def queued_urls(rows: list[bytes]) -> list[QueuedUrl]:
    """From members and scores in turn."""
    return [queued(*pair) for pair in zip(rows[::2], rows[1::2], strict=True)]


def robots(state: int, ms: int, failures: int, body: bytes) -> bytes:
    """`ms` is an age on the way to the server, and an instant where it is kept."""
    return _ROBOTS.pack(state, ms, failures) + body


def robots_record(origin: str, packed: bytes, now_at: int) -> RobotsRecord:
    state, fetched_at, failures = _ROBOTS.unpack_from(packed)
    age_s = max(0, now_at - int(fetched_at)) / 1000
    return RobotsRecord(origin, RobotsState(state), packed[_ROBOTS.size :], age_s, failures)


def robots_fields(packed: bytes) -> tuple[int, bytes, int, int]:
    """State, body, fetched_at, failures."""
    state, fetched_at, failures = _ROBOTS.unpack_from(packed)
    return state, packed[_ROBOTS.size :], int(fetched_at), failures


def entry(hash_: int, outcome: int) -> bytes:
    return _ENTRY.pack(hash_, outcome)


def entries(leaves: bytes) -> list[tuple[int, int]]:
    """(hash, outcome) of what was seen of a site."""
    return list(_ENTRY.iter_unpack(leaves))


def writer_row(packed: bytes) -> tuple[int, list[int]]:
    """Sequence and refused tokens."""
    _, sequence = _WRITER.unpack_from(packed)
    return int(sequence), numbers(packed[_WRITER.size :])


def retired_writer(sequence: int, refused: tuple[int, ...]) -> bytes:
    return _WRITER.pack(0, sequence) + b"".join(map(number, refused))


def site(row: SiteRow) -> bytes:
    """Without what it has seen."""
    counts = (row.failures, row.pending, row.pages, row.spilt, 0, 1)
    packed = _SITE.pack(row.state, row.ready_at, row.delay_ms, row.dropped, *counts)
    return packed + row.site.encode()


def site_row(packed: bytes) -> SiteRow:
    state, ready_at, delay, dropped, failures, pending, pages, spilt, *_ = _SITE.unpack_from(packed)
    name = packed[_SITE.size :].decode()
    times = (int(ready_at), failures, int(delay))
    return SiteRow(name, state, *times, pending, spilt, pages, int(dropped))
