"""What a commit in a Cluster was about, and how one is brought to its end that was cut off.

A commit goes to many buckets, each of which takes its part at once or not at all. Before, the crawl
as a whole is told which leases it is about (the *intent*). So whoever asks how far a writer came
can have each bucket say what it refused, or refuse what has not come to it yet; what comes later is
told the same. A batch therefore counts as committed from its intent on, but for what is refused.
"""

import struct
from collections.abc import Iterator, Mapping

from mannerly.frontier.redis import packing
from mannerly.frontier.redis.session import Session

_HEAD = struct.Struct(">BI")
"""A bucket, and how many bytes of tokens follow."""


def intent(tokens: Mapping[int, bytes]) -> bytes:
    """From the packed tokens of each bucket."""
    return b"".join(_HEAD.pack(bucket, len(it)) + it for bucket, it in tokens.items())


def meant(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """Buckets and their tokens, as in the intent."""
    at = 0
    while at < len(packed):
        bucket, size = _HEAD.unpack_from(packed, at)
        at += _HEAD.size + size
        yield bucket, packed[at - size : at]


def concluded(session: Session, writer: int, sequence: int, packed: bytes) -> list[int]:
    """Bring a commit to its end; the tokens that were refused, or are from now on."""
    batch = [([bucket], (writer, sequence, tokens)) for bucket, tokens in meant(packed)]
    refused = b"".join(answer[3] for answer in session.calls("conclude", batch))
    session.call("concluded", writer, sequence, refused)
    return packing.numbers(refused)


def last_in_buckets(session: Session, writer: int) -> tuple[int, list[int]]:
    """The last commit that any bucket knows of, and what was refused of it. Later than what the
    crawl as a whole knows only where that has lost its last moments: then it counts all the same,
    since URLs were settled by it."""
    found: dict[int, list[int]] = {0: []}
    for _, answer in session.each("rows_in_buckets", writer):
        for row in filter(None, answer[3]):
            sequence, refused = packing.writer_row(row)
            found.setdefault(sequence, []).extend(refused)
    last = max(found)
    return last, found[last]
