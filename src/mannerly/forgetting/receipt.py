"""The receipt: written before anything is removed, and again when all of it is.

So it is complete whatever is killed in between: what is to be removed was counted first, and
whoever goes on goes by that. It names no page, only how many, and digests by which each file, and
the set of URLs as a whole, can be told again by somebody who has a copy.
"""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mannerly.store.disk import DISK, write_durably

FOLDER = "forgotten"


@dataclass(slots=True)
class FileChange:
    """One file from which rows (of a WARC file: exchanges) go."""

    table: str
    file: str
    """Relative to the data directory."""
    rows: int
    left: int
    """How many rows of it there are to be."""
    sha256: str
    """Of the file as it was before."""


@dataclass(slots=True)
class Receipt:
    site: str
    begun: str
    """UTC, ISO 8601."""
    done: str = ""
    """'' until everything is removed."""
    rows: dict[str, int] = field(default_factory=dict)
    """Removed from the store, by table."""
    urls_digest: str = ""
    """SHA-256 over the sorted hashes of the URLs that were in `fetches`, one a line."""
    files: list[FileChange] = field(default_factory=list)
    waiting: int = 0
    """URLs that waited in the frontier, and now never will be fetched."""
    settled: int = 0
    """URLs that the frontier had settled."""
    left: list[str] = field(default_factory=list)
    """What may still hold something of the site, and must be dealt with by a person."""

    def __str__(self) -> str:
        rows = ", ".join(f"{count:,} {table}" for table, count in self.rows.items() if count)
        lines = [
            f"forgotten: {self.site}",
            f"  when       begun {self.begun}, done {self.done or 'not yet'}",
            f"  store      {rows or 'nothing'} removed, from {len(self.files):,} files",
            f"  frontier   {self.waiting:,} waiting and {self.settled:,} settled URLs removed; "
            "the site is excluded for good",
            f"  digest     {self.urls_digest}",
        ]
        return "\n".join(lines + [f"  left       {it}" for it in self.left])


def unfinished(data_dir: Path, site: str) -> tuple[Path, Receipt] | None:
    """The receipt of a run for this site that was cut off."""
    for path in sorted((data_dir / FOLDER).glob("*.json")):
        receipt = _read(path)
        if receipt.site == site and not receipt.done:
            return path, receipt
    return None


def new_path(data_dir: Path, receipt: Receipt) -> Path:
    name = re.sub(r"[^a-z0-9.-]", "_", receipt.site)
    return data_dir / FOLDER / f"{name}-{receipt.begun.replace(':', '')}.json"


def write(path: Path, receipt: Receipt) -> None:
    """Durable when it returns, and never half of it."""
    path.parent.mkdir(exist_ok=True)
    DISK.sync_dir(path.parent.parent)
    write_durably(path, json.dumps(asdict(receipt), indent=2) + "\n")


def _read(path: Path) -> Receipt:
    fields = json.loads(path.read_text(encoding="utf-8"))
    files = [FileChange(**it) for it in fields.pop("files")]
    return Receipt(**fields, files=files)
