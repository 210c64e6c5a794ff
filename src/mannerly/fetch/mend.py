"""Mending response heads that the parser refuses but that have one safe meaning. Pure.

llhttp is strict where the web is not, and its leniency flags do not cover what is common: repeated
Content-Length, folded lines, lines without a colon, `http/1.1`, NUL. So the fast path is llhttp
alone; only when it refuses a head is the head rewritten here, by the rules of RFC 9112 and of
browsers, and parsed once more by the same strict parser. What is ambiguous stays refused: a body
whose end is in doubt must never look complete.

A mended response is never followed by another on its connection.
"""

import re
from typing import Final, NamedTuple

BLANK_LINE = re.compile(rb"\n\r?\n")
_STATUS_LINE = re.compile(
    rb"HTTP/(?P<major>[12])(?:\.(?P<minor>\d))?[ \t]+(?P<status>[1-9]\d\d)(?:[ \t].*)?\r*", re.I
)
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_OPENING = b"http/"
MAX_INTERIM: Final = 8
"""How many 1xx responses may come before the real one."""

Header = tuple[bytes, bytes]


class Mended(NamedTuple):
    head: bytes
    """A head that means the same and that a strict parser takes."""
    headers: list[Header]
    """The headers as received, but for folds, controls and lines that are no headers."""
    rest: bytes
    """What followed the head."""
    interim: int
    """How many 1xx heads stood before it."""


class NotMendableError(ValueError):
    """The head has no safe meaning; the message says why."""


def mend(raw: bytes) -> Mended | None:
    """Rewrite the first final head in `raw`. None: more bytes are needed.

    Raises `NotMendableError`.
    """
    interim = 0
    while True:
        raw = raw.lstrip(b"\r\n")
        opening = raw[: len(_OPENING)].lower()
        if opening != _OPENING[: len(opening)]:
            raise NotMendableError("no HTTP status line")
        end = BLANK_LINE.search(raw)
        if end is None:
            return None
        lines = raw[: end.start()].split(b"\n")
        line = _STATUS_LINE.fullmatch(lines[0])
        if line is None:
            raise NotMendableError("bad status line")
        rest = raw[end.end() :]
        status = line["status"]
        if status[:1] == b"1" and status != b"101":
            interim += 1
            if interim > MAX_INTERIM:
                raise NotMendableError("too many 1xx responses")
            raw = rest
            continue
        headers = _headers(lines[1:])
        version = b"1.0" if line["major"] == b"1" and line["minor"] == b"0" else b"1.1"
        head = [b"HTTP/", version, b" ", status, b"\r\n"]
        for name, value in _framed(headers):
            head += (name, b": ", value, b"\r\n")
        head.append(b"\r\n")
        return Mended(b"".join(head), headers, rest, interim)


def _headers(lines: list[bytes]) -> list[Header]:
    """RFC 9112: folds become one space (5.2), NUL and bare CR become a space (2.2, RFC 9110 5.5).

    A line without a proper name is dropped, `Name : value` included, as browsers do: a
    `Transfer-Encoding : chunked` that only some take for a header is how responses are smuggled.
    """
    headers: list[Header] = []
    dropped = True
    for line in lines:
        text = _CONTROLS.sub(b" ", line.removesuffix(b"\r"))
        if text[:1] in (b" ", b"\t"):
            if not dropped:
                name, value = headers[-1]
                headers[-1] = (name, (value + b" " + text.strip()).strip())
            continue
        name, colon, value = text.partition(b":")
        dropped = not colon or _TOKEN.fullmatch(name) is None
        if not dropped:
            headers.append((name, value.strip()))
    return headers


def _framed(headers: list[Header]) -> list[Header]:
    """The headers with at most one that says where the body ends."""
    lengths: set[bytes] = set()
    codings: list[bytes] = []
    others: list[Header] = []
    for name, value in headers:
        key = name.lower()
        if key == b"content-length":
            lengths.update(part.strip() for part in value.split(b","))
        elif key == b"transfer-encoding":
            codings += (part.strip().lower() for part in value.split(b","))
        else:
            others.append((name, value))
    codings = [coding for coding in codings if coding not in (b"", b"identity")]
    if codings:
        # Transfer-Encoding wins over Content-Length (RFC 9112 6.3).
        return [*others, (b"Transfer-Encoding", b", ".join(codings))]
    if not lengths or lengths == {b""}:
        return others
    if len(lengths) > 1:
        raise NotMendableError("conflicting Content-Length")
    length = lengths.pop()
    if not length.isdigit():
        raise NotMendableError("bad Content-Length")
    return [*others, (b"Content-Length", length)]
