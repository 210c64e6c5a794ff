"""Bodies and headers that are too much, or not what they are said to be."""

import gzip
import zlib
from functools import cache

import brotli
import zstandard

from tests.hostile.script import End, Endless, Pause, Script
from tests.hostile.site import (
    BROKEN,
    CUT,
    FETCHED,
    HTTP_ERROR,
    LATE,
    NO_PAGE,
    REDIRECTED,
    Site,
    one_page,
    response,
)

MIB = 1024 * 1024
OK = b"HTTP/1.1 200 OK\r\n"
HTML = OK + b"Content-Type: text/html\r\n"
KILOBYTES = b"k" * 60_000
"""A header value just below what is read of a head."""


def odd_sites() -> list[Site]:
    return [*_endings(), *_framing(), *_types(), *_waits(), *_heads()]


def large_sites() -> list[Site]:
    return [*_bombs(), *_endless(), *_charsets()]


@cache
def inflating(times: int = 1024) -> bytes:
    """The start of a gzip stream of `times` MiB. It has no end; nobody gets that far."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(b"<p>" + b" " * (MIB - 3)) + packer.flush(zlib.Z_FULL_FLUSH)
    return bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 255]) + block * times


def _packed(coding: bytes, body: bytes) -> Script:
    return response(body, "text/html", b"Content-Encoding: " + coding)


def _bombs() -> list[Site]:
    blank = b" " * 64 * MIB
    zstd = zstandard.ZstdCompressor().compress(blank)
    br = brotli.compress(blank, quality=1)
    gz = inflating()
    return [
        one_page("bomb-gzip", _packed(b"gzip", gz), CUT),
        one_page("bomb-deflate", _packed(b"deflate", gz[10:]), CUT),
        one_page("bomb-br", _packed(b"br", br), CUT),
        one_page("bomb-zstd", _packed(b"zstd", zstd), CUT),
        one_page("bomb-gzip-gzip", _packed(b"gzip, gzip", gzip.compress(gz)), CUT),
        one_page("bomb-zstd-br", _packed(b"br, zstd", zstandard.compress(br)), CUT),
        one_page(
            "bomb-three", _packed(b"gzip, gzip, gzip", gzip.compress(gzip.compress(gz))), CUT
        ),
        one_page("bomb-in-two-headers",
                 response(gzip.compress(gz), "text/html", *[b"Content-Encoding: gzip"] * 2),
                 CUT),
        one_page("codings-100", _packed(b"gzip," * 100 + b"gzip", b"<p>x"), FETCHED),
        one_page("gzip-members", _packed(b"gzip", gzip.compress(b"") * 50_000), FETCHED),
        one_page("gzip-plain", _packed(b"gzip", b"<p>not packed"), FETCHED),
        one_page("coding-unheard-of", _packed(b"\xff" * 1000, b"<p>x"), FETCHED),
        one_page("zstd-window", _packed(b"zstd", _wide_zstd()), FETCHED),
    ]  # fmt: skip


def _wide_zstd() -> bytes:
    """It wants 128 MiB of memory before it gives a byte."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return packer.compress(b"<p>wide") + packer.flush()


def _endless() -> list[Site]:
    """In every framing, in every coding, under every status."""
    chunk = b"4e20\r\n" + b"text " * 4000 + b"\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    gz = inflating(1)
    more = gz[10:]
    return [
        one_page("endless-chunks", [HTML + chunked, Endless(chunk)], CUT),
        one_page("endless-http-1-0", [b"HTTP/1.0 200 OK\r\n\r\n", Endless(b" " * 20_000)], CUT),
        one_page("endless-length", [HTML + b"Content-Length: 9223372036854775807\r\n\r\n",
                                    Endless(b" " * 20_000)], CUT),
        one_page("endless-chunk", [HTML + chunked + b"7fffffffffffffff\r\n",
                                   Endless(b" " * 20_000)], CUT),
        one_page("endless-gzip", [HTML + b"Content-Encoding: gzip\r\n\r\n" + gz, Endless(more)],
                 CUT),
        one_page("endless-404", [b"HTTP/1.1 404 No\r\n\r\n", Endless(b"x" * 8000)], HTTP_ERROR),
        one_page("endless-302", [b"HTTP/1.1 302 F\r\nLocation: ftp://x/\r\n\r\n",
                                 Endless(b"x" * 8000)], REDIRECTED),
        one_page("endless-500", [b"HTTP/1.1 500 No\r\n\r\n", Endless(b"x" * 8000)], HTTP_ERROR),
    ]  # fmt: skip


def _endings() -> list[Site]:
    """Those that never come."""
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    return [
        one_page("drip-of-chunks", [HTML + chunked, Endless(b"1\r\nx\r\n", 0.05)], LATE),
        one_page("stall-at-the-limit", [HTML + b"\r\n" + b"x" * MIB, End.HOLD], LATE),
        one_page("drip-of-nothing", [HTML + chunked, Endless(b"0", 0.05)], LATE),
    ]


def _framing() -> list[Site]:
    return [
        one_page("length-1-then-much", [HTML + b"Content-Length: 1\r\n\r\n", Endless(b"x" * 8000)],
                 FETCHED),
        one_page("half-closed", [HTML + b"Content-Length: 100\r\n\r\nhalf", End.CLOSE], BROKEN),
        one_page("reset-after-head", [HTML + b"Content-Length: 9\r\n\r\n", Pause(0.05), End.RESET],
                 BROKEN),
        one_page("length-list", [HTML + b"Content-Length: 4, 4\r\n\r\n<p>x"], FETCHED),
        one_page("length-plus", [HTML + b"Content-Length: +4\r\n\r\n<p>x", End.CLOSE], BROKEN),
        one_page("te-twice", [HTML + b"Transfer-Encoding: chunked\r\n" * 2
                              + b"\r\n4\r\n<p>x\r\n0\r\n\r\n", End.CLOSE], FETCHED),
        one_page("nul-bytes", [b"\0" * 8000, End.HOLD], BROKEN),
        one_page("nul-body", response(b"\0" * MIB), FETCHED),
    ]  # fmt: skip


def _charsets() -> list[Site]:
    wide = "<p>wide".encode("utf-16-le")
    return [
        one_page("utf-7", response(b"+ADw-p+AD4-" * 20_000, "text/html; charset=utf-7"), FETCHED),
        one_page("iso-2022-jp", response(b"\x1b$B" * 300_000, "text/html; charset=iso-2022-jp"),
                 FETCHED),
        one_page("iso-2022-kr", response(b"\x0e!!" * 300_000, "text/html; charset=iso-2022-kr"),
                 FETCHED),
        one_page("hz", response(b"~{" * 300_000, "text/html; charset=hz-gb-2312"), FETCHED),
        one_page("utf-16-endless", [HTML + b"\r\n\xff\xfe" + wide, Endless(b"x\0" * 4000)], CUT),
        one_page("utf-16-odd", response(b"\xff\xfe" + wide + b"<"), FETCHED),
        one_page("utf-16-surrogates", response(b"\xff\xfe" + b"\x00\xd8" * 200_000), FETCHED),
        one_page("utf-32", response(b"\xff\xfe\0\0" + b"<\0\0\0p\0\0\0>\0\0\0" * 80_000), FETCHED),
        one_page("wrong-bom", response(b"\xfe\xff" + b"<p>this is no UTF-16" * 1000), FETCHED),
        one_page("two-boms", response(b"\xef\xbb\xbf\xff\xfe<p>x"), FETCHED),
        one_page("charset-unheard-of", response(b"<p>\xff", "text/html; charset=" + "x" * 50_000),
                 FETCHED),
        one_page("charset-many", response(b"<p>x", "text/html" + "; charset=" * 5_000), FETCHED),
        one_page("wide-characters", response("\U0001f600".encode() + b"x " * 500_000), FETCHED),
    ]  # fmt: skip


def _types() -> list[Site]:
    return [
        one_page("type-nul", response(b"<p>x", "text/html\0; charset=\0"), FETCHED),
        one_page("type-two", response(b"<p>x", "text/html, text/plain, image/png"), NO_PAGE),
        one_page("type-picture", response(b"<p>x", "image/png"), NO_PAGE),
        one_page("type-none", [OK + b"Content-Length: 700\r\n\r\n" + b"<!---->" * 100], FETCHED),
        one_page("type-none-then-binary", [OK + b"Content-Length: 512\r\n\r\n"
                                           + bytes(range(256)) * 2], NO_PAGE),
        one_page("type-long", response(b"<p>x", "x" * 60_000), NO_PAGE),
    ]  # fmt: skip


def _waits() -> list[Site]:
    """All ask for more patience than anybody has; the ceiling is ours."""
    values = {
        "much": b"9" * 400,
        "year-9999": b"Fri, 31 Dec 9999 23:59:59 GMT",
        "year-99999": b"Fri, 31 Dec 99999 23:59:59 GMT",
        "nonsense": b"when hell freezes over",
        "negative": b"-1",
        "zone": b"Fri, 31 Dec 2100 23:59:59 +9999999999",
        "long": b"1 Jan " * 9000,
        "two": b"1\r\nRetry-After: 99999999",
    }
    return [
        one_page(
            f"retry-after-{name}",
            response(b"", "text/html", b"Retry-After: " + value, status=status),
            HTTP_ERROR,
        )
        for name, value in values.items()
        for status in [b"503 Busy" if name < "n" else b"429 Slow"]
    ]


def _heads() -> list[Site]:
    hint = b"HTTP/1.1 103 Hint\r\nLink: </" + b"x" * 20_000 + b">\r\n\r\n"
    cookies = [b"Set-Cookie: c%d=%s" % (n, b"c" * 50) for n in range(800)]
    return [
        one_page("cookies", response(b"<p>x", "text/html", *cookies), FETCHED),
        one_page("hints-large", [hint * 7, *response(b"<p>x")], BROKEN),
        one_page("hints-slow", [Endless(hint[:20] + b"\r\n\r\n", 0.7)], LATE),
        one_page("reason-long", response(b"<p>x", status=b"200 " + KILOBYTES), FETCHED),
        one_page("value-long", response(b"<p>x", "text/html", b"X: " + KILOBYTES), FETCHED),
        one_page("name-long", response(b"<p>x", "text/html", KILOBYTES + b": x"), FETCHED),
        one_page("robots-tag-long", response(b"<p>x", "text/html",
                                             b"X-Robots-Tag: " + b"a:b," * 15_000), FETCHED),
        one_page("nul-header", [OK + b"\0: \0\r\nContent-Length: 4\r\n\r\n<p>x"], FETCHED),
        one_page("only-blank-lines", [Endless(b"\r\n", 0.05)], LATE),
    ]  # fmt: skip
