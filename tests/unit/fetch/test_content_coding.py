"""Content codings: right, odd, damaged, and bombs."""

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mannerly.fetch.decode import Decoded, decode

PAGE = b"<html>" + b"".join(b"<p>line %d</p>" % i for i in range(5000)) + b"</html>"
LIMIT = 1_000_000
MIB = 1024 * 1024


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def zstd_without_size(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(data)


PACKED = {
    "gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "br": brotli.compress(PAGE, quality=5),
    "zstd": zstd(PAGE),
}


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("", PAGE),
        ("identity", PAGE),
        ("gzip", gzip.compress(PAGE)),
        ("GZip", gzip.compress(PAGE)),
        ("x-gzip", gzip.compress(PAGE)),
        ("gzip, identity", gzip.compress(PAGE)),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", raw_deflate(PAGE)),
        ("br", brotli.compress(PAGE, quality=5)),
        ("zstd", zstd(PAGE)),
        ("zstd", zstd_without_size(PAGE)),
        ("zstd", zstd(PAGE[:100]) + zstd(PAGE[100:])),
        ("gzip", gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:])),
        ("gzip", gzip.compress(PAGE) + b"\0" * 100),
        ("gzip", gzip.compress(PAGE) + b"garbage"),
        ("gzip, gzip", gzip.compress(gzip.compress(PAGE))),
        ("deflate, br, gzip", gzip.compress(brotli.compress(zlib.compress(PAGE)))),
    ],
)
def test_undone(encoding: str, body: bytes) -> None:
    assert decode(body, encoding, LIMIT) == Decoded(PAGE, truncated=False, problem="")


def test_br_is_read_to_its_end_however_short_it_is() -> None:
    """All of the input is taken long before all of the output is there."""
    blanks = b" " * (MIB - 1)
    packed = brotli.compress(blanks)
    assert len(packed) < 100
    assert decode(packed, "br", MIB) == Decoded(blanks, truncated=False, problem="")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, br"])
def test_empty_body_is_empty(encoding: str) -> None:
    assert decode(b"", encoding, LIMIT) == Decoded(b"", truncated=False, problem="")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "utf-8", "none", "gzip, x"])
def test_mislabelled_body_is_handed_on_with_the_problem_named(encoding: str) -> None:
    decoded = decode(PAGE, encoding, LIMIT)
    assert decoded.body == PAGE
    assert decoded.problem


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_clipped_body_gives_its_beginning_and_says_so(encoding: str) -> None:
    packed = PACKED[encoding]
    decoded = decode(packed[: len(packed) // 2], encoding, LIMIT)
    assert 0 < len(decoded.body) < len(PAGE)
    assert PAGE.startswith(decoded.body)
    assert decoded.problem == "ended early"


def test_gzip_without_its_trailer_is_whole_but_noted() -> None:
    decoded = decode(gzip.compress(PAGE)[:-8], "gzip", LIMIT)
    assert decoded == Decoded(PAGE, truncated=False, problem="ended early")


def test_gzip_with_a_wrong_checksum_is_nearly_whole_and_noted() -> None:
    packed = bytearray(gzip.compress(PAGE))
    packed[-6] ^= 0xFF
    decoded = decode(bytes(packed), "gzip", LIMIT)
    assert PAGE.startswith(decoded.body)
    assert len(decoded.body) > len(PAGE) - 2000
    assert decoded.problem.startswith("damaged")


@pytest.mark.parametrize("encoding", list(PACKED))
@pytest.mark.parametrize("limit", [1, 100, len(PAGE) - 1])
def test_cut_at_the_limit(encoding: str, limit: int) -> None:
    decoded = decode(PACKED[encoding], encoding, limit)
    assert decoded == Decoded(PAGE[:limit], truncated=True, problem="")


@pytest.mark.parametrize("encoding", ["", *PACKED])
def test_exactly_the_limit_is_not_cut(encoding: str) -> None:
    decoded = decode(PACKED.get(encoding, PAGE), encoding, len(PAGE))
    assert decoded == Decoded(PAGE, truncated=False, problem="")


def bombs() -> list[tuple[str, bytes]]:
    zeros = bytes(64 * MIB)
    return [
        ("gzip", gzip.compress(zeros, 9)),
        ("gzip, gzip", gzip.compress(gzip.compress(zeros, 9), 9)),
        ("deflate", raw_deflate(zeros)),
        ("br", brotli.compress(zeros, quality=5)),
        ("zstd", zstd(zeros)),
    ]


@pytest.mark.parametrize(
    ("encoding", "bomb"), bombs(), ids=["gzip", "gzip2", "deflate", "br", "zstd"]
)
def test_bomb_takes_little_more_than_the_limit(encoding: str, bomb: bytes) -> None:
    tracemalloc.start()
    try:
        decoded = decode(bomb, encoding, MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert decoded.body == bytes(MIB)
    assert decoded.truncated
    assert peak < 5 * MIB


def test_flood_of_empty_members_is_bounded() -> None:
    decoded = decode(gzip.compress(b"") * 50_000, "gzip", LIMIT)
    assert decoded == Decoded(b"", truncated=False, problem="more than 256 gzip members")


def test_too_many_codings_are_not_undone() -> None:
    assert decode(b"x", "gzip, gzip, gzip, gzip", 10).problem == "4 content codings"


def test_window_larger_than_the_web_allows_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = packed.compress(PAGE) + packed.flush()
    assert "zstd" in decode(body, "zstd", LIMIT).problem


@given(
    st.binary(max_size=300),
    st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "x"]), max_size=4),
    st.integers(0, 50),
)
def test_never_raises_and_never_exceeds(body: bytes, codings: list[str], limit: int) -> None:
    assert len(decode(body, ", ".join(codings), limit).body) <= limit


@given(st.sampled_from(list(PACKED)), st.integers(0, 10_000), st.integers(0, 255))
def test_damage_anywhere_never_raises(encoding: str, place: int, byte: int) -> None:
    packed = bytearray(PACKED[encoding])
    packed[place % len(packed)] = byte
    assert len(decode(bytes(packed), encoding, LIMIT).body) <= LIMIT
