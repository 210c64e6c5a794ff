"""Content codings: from the body as received to the body as meant. Pure, and never raises.

A body is never larger than `limit` (plus one piece while it is made), however well it was packed.
What cannot be undone is handed on as it is, with the problem named: mislabelled bodies are common
(`Content-Encoding: utf-8`, plain text called gzip), and browsers show them.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, cast

import brotli
import zstandard
from isal import isal_zlib

from mannerly.quick import quick

MAX_CODINGS: Final = 3
MAX_MEMBERS: Final = 256
"""gzip members in one body. Empty ones cost time and yield nothing."""
MAX_ZSTD_WINDOW: Final = 8 * 1024 * 1024
"""RFC 9659: a larger window must not be used on the web."""
_PIECE: Final = 128 * 1024
_SALVAGE_PIECE: Final = 64
_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's `wbits`
# The library's type stub takes the class for an instance.
_InflateError = cast("type[Exception]", isal_zlib.error)


@quick
class Decoded(NamedTuple):
    body: bytes
    truncated: bool
    """There was more than `limit`."""
    problem: str
    """'' or what was wrong, in words. `body` is what could be had."""


@quick
class _Undone(NamedTuple):
    body: bytes | None
    """None: this is not what the coding says; the body stays as it is."""
    problem: str = ""


def decode(body: bytes, content_encoding: str, limit: int) -> Decoded:
    """Undo the codings of a Content-Encoding header, last one first."""
    codings = ["gzip"] if content_encoding == "gzip" else _codings(content_encoding)
    problem = ""
    truncated = False
    if len(codings) > MAX_CODINGS:
        codings, problem = [], f"{len(codings)} content codings"
    for coding in reversed(codings):
        if not body:
            break
        undo = _CODINGS.get(coding)
        if undo is None:
            problem = f"unknown content coding {coding[:40]!r}"
            break
        undone = undo(body, limit)
        problem = problem or undone.problem
        if undone.body is None:
            break
        body = undone.body
        if len(body) > limit:
            body, truncated = body[:limit], True
    if len(body) > limit:
        body, truncated = body[:limit], True
    return Decoded(body, truncated, problem)


def _codings(content_encoding: str) -> list[str]:
    codings = [coding.strip() for coding in content_encoding.lower().split(",")]
    return [coding for coding in codings if coding not in ("", "identity")]


# Each of these returns up to a piece more than `limit`: that is how the caller sees the cut.


def _gunzip(body: bytes, limit: int) -> _Undone:
    if not body.startswith(_GZIP_MAGIC):
        return _Undone(None, "called gzip, but is not")
    members: list[bytes] = []
    room = limit
    for _ in range(MAX_MEMBERS):
        member = _inflate(body, _GZIP, room)
        members.append(member.body)
        room -= len(member.body)
        # Behind the first member anything may follow (padding is common); only another is read.
        if room < 0 or not member.rest.startswith(_GZIP_MAGIC):
            return _Undone(b"".join(members), member.problem if room >= 0 else "")
        body = member.rest
    return _Undone(b"".join(members), f"more than {MAX_MEMBERS} gzip members")


def _undeflate(body: bytes, limit: int) -> _Undone:
    """ "deflate" is zlib by the standard and raw deflate by old habit; both are in use."""
    wrapped = len(body) > 1 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
    if wrapped:
        inflated = _inflate(body, _ZLIB, limit)
        if inflated.body or not inflated.problem:
            return _Undone(inflated.body, inflated.problem)
    raw = _inflate(body, _RAW, limit)
    if not raw.body and raw.problem:
        return _Undone(None, "called deflate, but is not")
    return _Undone(raw.body, raw.problem)


@quick
class _Inflated(NamedTuple):
    body: bytes
    rest: bytes
    problem: str


def _inflate(data: bytes, wbits: int, limit: int) -> _Inflated:
    stream = isal_zlib.decompressobj(wbits)
    try:
        body = stream.decompress(data, limit + 1)
    except _InflateError as exc:
        return _Inflated(_salvage(data, wbits, limit), b"", f"damaged: {exc}")
    if stream.eof or len(body) > limit:
        return _Inflated(body, stream.unused_data, "")
    return _Inflated(body, b"", "ended early")


def _salvage(data: bytes, wbits: int, limit: int) -> bytes:
    """What comes before the damage (often only a wrong checksum at the very end)."""
    stream = isal_zlib.decompressobj(wbits)
    body = bytearray()
    for start in range(0, len(data), _SALVAGE_PIECE):
        try:
            body += stream.decompress(
                stream.unconsumed_tail + data[start : start + _SALVAGE_PIECE],
                limit + 1 - len(body),
            )
        except _InflateError:
            break
        if len(body) > limit:
            break
    return bytes(body)


def _unbrotli(body: bytes, limit: int) -> _Undone:
    stream = brotli.Decompressor()
    whole = bytearray()
    try:
        whole += stream.process(body, output_buffer_limit=min(_PIECE, limit + 1))
        # `can_accept_more_data` is true as soon as all input was taken, with output still to come.
        while len(whole) <= limit and (piece := stream.process(b"", output_buffer_limit=_PIECE)):
            whole += piece
    except brotli.error as exc:
        if not whole:
            return _Undone(None, "called br, but is not")
        return _Undone(bytes(whole), f"damaged: {exc}")
    early = len(whole) <= limit and not stream.is_finished()
    return _Undone(bytes(whole), "ended early" if early else "")


def _unzstd(body: bytes, limit: int) -> _Undone:
    whole = bytearray()
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
    try:
        reader = decompressor.stream_reader(body, read_across_frames=True)
        while len(whole) <= limit and (piece := reader.read(_PIECE)):
            whole += piece
    except zstandard.ZstdError as exc:
        if not whole:
            return _Undone(None, f"called zstd, but is not: {exc}")
        return _Undone(bytes(whole), f"damaged: {exc}")
    return _Undone(bytes(whole), "" if whole else "ended early")


_CODINGS: Final[dict[str, Callable[[bytes, int], _Undone]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
