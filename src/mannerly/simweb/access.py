"""The access log: one record per request, the evidence by which a crawler is judged."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class AccessRecord(NamedTuple):
    """One request as the server saw it. Times are unix seconds."""

    arrived: float
    """The first byte of the request."""
    start: float
    """The head of the request was complete."""
    end: float
    """The last byte of the response was handed to the kernel, or the connection was gone."""
    host: str
    scheme: str
    path: str
    """With the query."""
    status: int
    """0 where nothing was answered."""
    user_agent: str
    connection: str
    bytes: int
    """Written, headers included. Where `sent_whole` is false, not all of them may have left."""
    sent_whole: bool
    location: str = ""
    """Where the answer redirected to, absolute; '' if nowhere."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


_quoted = json.JSONEncoder().encode
_FLUSH_BYTES = 1 << 18


def to_line(record: AccessRecord) -> str:
    """The record as JSON. By hand: it is written once per request, and this takes half the time."""
    return (
        f'{{"arrived": {record.arrived!r}, "start": {record.start!r}, "end": {record.end!r}, '
        f'"host": {_quoted(record.host)}, "scheme": "{record.scheme}", '
        f'"path": {_quoted(record.path)}, "status": {record.status}, '
        f'"user_agent": {_quoted(record.user_agent)}, "connection": {_quoted(record.connection)}, '
        f'"bytes": {record.bytes}, "sent_whole": {"true" if record.sent_whole else "false"}, '
        f'"location": {_quoted(record.location)}}}\n'
    )


def from_line(line: str) -> AccessRecord:
    return AccessRecord(**json.loads(line))


def read_log(path: Path) -> Iterator[AccessRecord]:
    """The records of a log file, by the time their requests started.

    A last line that is still being written is left out.
    """
    with path.open(encoding="utf-8") as file:
        lines = [line for line in file if line.endswith("\n")]
    yield from sorted((from_line(line) for line in lines), key=lambda record: record.start)


class AccessFile:
    """Appends records to a file that several processes share.

    Lines are kept back until `flush`, which is one O_APPEND write: the kernel does not interleave
    those on a local file, so every line stays whole.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._lines: list[str] = []
        self._held = 0

    def append(self, record: AccessRecord) -> None:
        line = to_line(record)
        self._lines.append(line)
        self._held += len(line)
        if self._held >= _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        if not self._lines:
            return
        data = memoryview("".join(self._lines).encode())
        self._lines.clear()
        self._held = 0
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        self.flush()
        os.close(self._file)
