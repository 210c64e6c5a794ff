"""Taking a site's exchanges out of the WARC files, so that those of other sites lose nothing.

A revisit of another site may refer to a record of this one: the two servers sent the same bytes.
These bytes are the other site's as well, so its revisit is first made the response that it was;
only then the site's own records go. Killed in between, doing it again finishes it.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mannerly.store.disk import DISK, Disk
from mannerly.store.warc.member import packed
from mannerly.store.warc.reading import EXCHANGES, Kept, as_kept, record_at, records_of
from mannerly.store.warc.records import END, digest_of
from mannerly.store.warc.rewriting import rewrite

IsTheirs = Callable[[str], bool]
"""Whether a URL is one of the site that goes."""
_REFERENCE = frozenset(
    (b"warc-profile", b"warc-refers-to", b"warc-refers-to-target-uri", b"warc-refers-to-date")
)


def exchanges_of(path: Path, is_theirs: IsTheirs) -> int:
    """How many exchanges of the site a file has. `StoreError` if it is damaged."""
    return sum(is_theirs(it.target) for it in records_of(path) if it.kind in EXCHANGES)


def resolve_references(paths: Sequence[Path], is_theirs: IsTheirs, *, disk: Disk = DISK) -> None:
    """Make every revisit of another site that refers to the site a response of its own."""
    wanted = {
        path: {
            record.fields.get("warc-refers-to", "")
            for record in records_of(path)
            if _refers(record, is_theirs)
        }
        for path in paths
    }
    where = _places(paths, set().union(*wanted.values()))
    for path in (path for path, ids in wanted.items() if ids):
        rewrite(path, _resolved(path, where, is_theirs), disk=disk)


def remove(path: Path, is_theirs: IsTheirs, *, disk: Disk = DISK) -> None:
    """Take the site's records out of a file, once no other refers to them."""
    kept = (it for it in records_of(path) if not (it.target and is_theirs(it.target)))
    rewrite(path, kept, disk=disk)


def _refers(record: Kept, is_theirs: IsTheirs) -> bool:
    original = record.fields.get("warc-refers-to-target-uri", "")
    return bool(original) and is_theirs(original) and not is_theirs(record.target)


Places = dict[str, tuple[Path, int]]


def _places(paths: Sequence[Path], ids: set[str]) -> Places:
    """Where the records with these ids lie: their bodies are not all held at once."""
    if not ids:
        return {}
    return {
        name: (path, record.offset)
        for path in paths
        for record in records_of(path)
        if (name := record.fields.get("warc-record-id", "")) in ids
    }


def _resolved(path: Path, where: Places, is_theirs: IsTheirs) -> Iterator[Kept]:
    for record in records_of(path):
        if not _refers(record, is_theirs):
            yield record
            continue
        place = where.get(record.fields.get("warc-refers-to", ""))
        yield _as_response(record, record_at(*place).payload if place is not None else None)


def _as_response(revisit: Kept, payload: bytes | None) -> Kept:
    """The revisit with the payload that it stood for. Where that was lost with a damaged file, only
    the reference goes."""
    head, _, _ = revisit.whole.partition(END)
    block = revisit.block if payload is None else revisit.block + payload
    fields = {
        b"warc-block-digest": digest_of(block).encode(),
        b"content-length": b"%d" % len(block),
    }
    if payload is not None:
        fields[b"warc-type"] = b"response"
    lines = [
        name + b": " + fields.get(name.lower(), value)
        for name, _, value in (line.partition(b": ") for line in head.split(b"\r\n")[1:])
        if name.lower() not in _REFERENCE or (payload is None and name.lower() == b"warc-profile")
    ]
    whole = b"\r\n".join([b"WARC/1.1", *lines]) + END + block + END
    return as_kept(whole, packed(whole))
