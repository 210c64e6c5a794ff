"""The reader of responses and the mending of heads, without a network."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.fetch.mend import NotMendableError, mend
from mannerly.fetch.response import ResponseReader

OK = b"HTTP/1.1 200 OK\r\n"
STREAMS = [
    OK + b"Content-Length: 5\r\nX: y\r\n\r\nhello",
    OK + b"Content-Length: 5\r\n\r\nhello" + OK + b"Content-Length: 2\r\n\r\nno",
    OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\nT: 1\r\n\r\n",
    OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    OK + b"Connection: close\r\n\r\nhello to the end",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + OK + b"A: b\r\n\r\nhi",
    b"HTTP/1.1 103 Hints\r\n\r\n" + OK + b"no colon\r\nContent-Length: 5, 5\r\n\r\nhello",
    b"http/1.1 200 ok\nX: a\n folded\nContent-Length: 5\n\nhello",
    b"\r\n" + OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello",
    b"<html>no head</html>\r\n\r\n",
    OK + b"Content-Length: 50\r\n\r\nshort",
    OK + b"X: " + b"x" * 3000 + b"\r\n\r\n",
    b"HTTP/1.1 200 " + b"o" * 3000 + b"\r\n\r\n",
    (b"HTTP/1.1 103 Hints\r\nLink: " + b"x" * 900 + b"\r\n\r\n") * 3 + OK + b"\r\nhi",
    (b"HTTP/1.1 103 Hints\r\nLink: " + b"x" * 900 + b"\r\n\r\n") * 3 + OK + b"odd\r\n\r\nhi",
]


Seen = tuple[str, int, list[tuple[bytes, bytes]], bytes, bool]


def read(pieces: list[bytes]) -> Seen:
    reader = ResponseReader(header_limit=2000, body_limit=12)
    for piece in pieces:
        if reader.feed(piece):
            break
    reader.feed_eof()
    assert reader.ended
    assert not reader.reusable
    return (reader.problem, reader.status, reader.headers, bytes(reader.body), reader.truncated)


@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 200), max_size=8))
def test_where_the_network_cuts_makes_no_difference(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(places) if a < b]
    whole, in_pieces = read([stream]), read(pieces)
    assert (in_pieces[0] == "") == (whole[0] == "")
    if not whole[0]:
        assert in_pieces == whole


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_no_bytes_make_it_raise(pieces: list[bytes]) -> None:
    read([b"HTTP/1.1 200 OK\r\n", *pieces])
    read(pieces)


@given(st.sampled_from(STREAMS), st.integers(0, 400), st.integers(0, 255))
def test_no_changed_byte_makes_it_raise(stream: bytes, place: int, byte: int) -> None:
    changed = bytearray(stream)
    changed[place % len(changed)] = byte
    read([bytes(changed)])


def test_connection_is_fit_for_more_only_after_a_clean_end() -> None:
    reader = ResponseReader(header_limit=2000, body_limit=100)
    seen = []
    for piece in (OK + b"Content-Length: 5\r\n\r\nhell", b"o", b"x"):
        reader.feed(piece)
        seen.append((reader.ended, reader.reusable))
    assert seen == [(False, False), (True, True), (True, False)]
    assert reader.body == b"hello"


def test_long_body_does_not_buy_long_trailers() -> None:
    reader = ResponseReader(header_limit=2000, body_limit=100_000)
    reader.feed(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    reader.feed(b"c350\r\n" + b"x" * 50_000 + b"\r\n0\r\n")
    fed = 0
    while not reader.ended:
        fed += len(b"T: %s\r\n" % (b"x" * 95))
        reader.feed(b"T: %s\r\n" % (b"x" * 95))
    assert reader.problem == "chunk extensions or trailers too large"
    assert fed <= 2100


def test_headers_are_kept_as_received() -> None:
    reader = ResponseReader(header_limit=2000, body_limit=100)
    reader.feed(OK + b"b: 1\r\nA:  two \r\nb: 3\r\nContent-Length: 0\r\n\r\n")
    assert reader.headers == [
        (b"b", b"1"),
        (b"A", b"two "),
        (b"b", b"3"),
        (b"Content-Length", b"0"),
    ]


def test_the_status_line_is_kept_that_of_the_last_head() -> None:
    reader = ResponseReader(header_limit=2000, body_limit=100)
    reader.feed(b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.0 404 Gone Fishing\r\nContent-Length: 0\r\n\r\n")
    assert (reader.http_version, reader.status, reader.reason) == (b"1.0", 404, b"Gone Fishing")


def test_headers_of_a_mended_head_are_those_received_not_those_made() -> None:
    reader = ResponseReader(header_limit=2000, body_limit=100)
    reader.feed(OK + b"b: 1\r\n x\r\nContent-Length: 2\r\nContent-Length: 2\r\nno\r\n\r\nok")
    assert reader.headers == [
        (b"b", b"1 x"),
        (b"Content-Length", b"2"),
        (b"Content-Length", b"2"),
    ]
    assert (reader.problem, bytes(reader.body), reader.reusable) == ("", b"ok", False)


def mended(head: bytes) -> bytes:
    result = mend(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
    assert result is not None
    return result.head.removeprefix(b"HTTP/1.1 200\r\n").removesuffix(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"A: 1\r\n 2\r\n\t3", b"A: 1 2 3"),
        (b" stray fold\r\nA: 1", b"A: 1"),
        (b"no colon\r\n and its fold\r\nA: 1", b"A: 1"),
        (b": no name\r\nA: 1", b"A: 1"),
        (b"A : 1\r\nB: 2", b"B: 2"),
        (b"A\xe9: 1\r\nB: 2", b"B: 2"),
        (b"A: x\0y\rz\x7f", b"A: x y z"),
        (b"Content-Length: 5\r\ncontent-length: 5, 5", b"Content-Length: 5"),
        (b"Content-Length: \r\nA: 1", b"A: 1"),
        (b"Content-Length: 5\r\nTransfer-Encoding: Chunked", b"Transfer-Encoding: chunked"),
        (b"Transfer-Encoding: identity\r\nContent-Length: 5", b"Content-Length: 5"),
        (b"Transfer-Encoding : chunked\r\nContent-Length: 5", b"Content-Length: 5"),
    ],
)
def test_mended_heads(head: bytes, expected: bytes) -> None:
    assert mended(head) == expected


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 5,",
        b"Content-Length: +5",
        b"Content-Length: 5\r\n 6",
        b"Content-Length: 05, 5",
    ],
)
def test_length_in_doubt_is_not_mended(head: bytes) -> None:
    with pytest.raises(NotMendableError, match="Content-Length"):
        mended(head)


@pytest.mark.parametrize(
    "line", [b"HTTP/1.1 OK", b"HTTP/0.9 200", b"HTTP/1.1 20", b"HTTP/1.1 2000 OK", b"HTTP/ 200"]
)
def test_status_line_in_doubt_is_not_mended(line: bytes) -> None:
    with pytest.raises(NotMendableError, match="status line"):
        mend(line + b"\r\n\r\n")


def test_unfinished_head_waits() -> None:
    assert mend(b"ht") is None
    assert mend(b"HTTP/1.1 200 OK\r\nA: 1\r\n") is None
    with pytest.raises(NotMendableError):
        mend(b"hx")


def test_interim_heads_are_counted_and_bounded() -> None:
    interim = b"HTTP/1.1 103 Hints\r\n\r\n"
    result = mend(interim * 8 + OK + b"\r\nrest")
    assert result is not None
    assert (result.interim, result.rest) == (8, b"rest")
    with pytest.raises(NotMendableError, match="too many 1xx"):
        mend(interim * 9 + OK + b"\r\n")
