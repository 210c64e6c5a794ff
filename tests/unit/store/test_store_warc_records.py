"""WARC records as others read them: warcio, FastWARC and gzip judge what was written."""

import gzip
import io
import json
import random
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from warcio.archiveiterator import ArchiveIterator

from mannerly.records import Exchange
from mannerly.store.layout import temporary
from mannerly.store.tables import WARC, decode, encode, public
from mannerly.store.warc import records
from mannerly.store.warc.archivist import LEAST_BYTES, Archivist, WarcRow
from mannerly.store.warc.files import WarcFile
from mannerly.store.warc.member import stored
from mannerly.store.warc.surt import surt

PAGE = b"<html><title>t</title>" + b"<p>words and words</p>" * 60
FACTS = [("software", "mannerly/0"), ("operator", "me@example.org")]


def exchange(number: int = 1, token: int = 1, **changes: Any) -> Exchange:
    made = Exchange(
        token=token,
        url=f"https://www.example.org/{number}?b=2&a=1",
        fetched_at=1_800_000_000.25 + number,
        address="192.0.2.7",
        request=b"GET /%d HTTP/1.1\r\nHost: www.example.org\r\n\r\n" % number,
        http_version=b"1.1",
        status=200,
        reason=b"OK",
        headers=[
            (b"Content-Type", b"text/html; charset=utf-8"),
            (b"x-Odd", b"1"),
            (b"X-odd", b"2"),
        ],
        body=PAGE,
        truncated=False,
        facts=(("fetchTimeMs", "12"), ("tls", "TLSv1.3")),
    )
    return made._replace(**changes)


def archive(directory: Path, *rows: WarcRow) -> Path:
    """By the way that leads through the journal."""
    path = directory / "test.warc.gz"
    with WarcFile(WARC, path) as file:
        for batch in decode(pa.py_buffer(b"".join(encode(WARC, rows)))):
            counting = public(WARC, batch, ())
            assert counting is not None
            file.add(counting)
    for made in file.paths:
        temporary(made).rename(made)
    return path


def archived(directory: Path, *exchanges: Exchange) -> Path:
    return archive(directory, *Archivist(7, FACTS).rows(1, exchanges, 1.8e9))


def read(path: Path) -> list[tuple[str, dict[str, str], bytes]]:
    found = []
    with path.open("rb") as source:
        for record in ArchiveIterator(source, no_record_parse=True):
            headers = dict(record.rec_headers.headers)
            found.append((headers["WARC-Type"], headers, record.raw_stream.read()))
    return found


def check(path: Path) -> None:
    """Accepted by all three, and a member for each record."""
    subprocess.run(["gzip", "-t", path], check=True)
    for command in (["warcio", "check"], ["fastwarc", "check", "-q"]):
        tool = Path(sys.executable).with_name(command[0])
        done = subprocess.run(
            [tool, *command[1:], path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_an_exchange_is_a_response_a_request_and_metadata(tmp_path: Path) -> None:
    path = archived(tmp_path, exchange())
    check(path)
    (_, info, about), (kind, response, block), (_, request, asked), (_, metadata, facts) = read(
        path
    )
    assert info["WARC-Type"] == "warcinfo"
    assert b"operator: me@example.org\r\n" in about
    assert kind == "response"
    assert response["WARC-Target-URI"] == "https://www.example.org/1?b=2&a=1"
    assert response["WARC-IP-Address"] == "192.0.2.7"
    assert response["WARC-Date"] == "2027-01-15T08:00:01.250000Z"
    assert block.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n")
    assert b"\r\nx-Odd: 1\r\nX-odd: 2\r\n\r\n" in block
    assert block.endswith(PAGE)
    assert asked == exchange().request
    assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    assert metadata["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    assert facts == b"fetchTimeMs: 12\r\ntls: TLSv1.3\r\n"
    assert len({h["WARC-Record-ID"] for _, h, _ in read(path)}) == 4


def test_a_changed_byte_is_found_by_its_digests(tmp_path: Path) -> None:
    """That the checks above can fail."""
    path = archived(tmp_path, exchange(body=b"x" * 600))
    whole = gzip.decompress(path.read_bytes())
    members = [gzip.compress(b"WARC/1.1" + part) for part in whole.split(b"WARC/1.1")[1:]]
    members[1] = gzip.compress(gzip.decompress(members[1]).replace(b"xxx", b"xyx", 1))
    path.write_bytes(b"".join(members))
    with pytest.raises(AssertionError):
        check(path)


def test_each_record_is_a_gzip_member(tmp_path: Path) -> None:
    path = archived(tmp_path, exchange(1), exchange(2, body=b""))
    rest, members = path.read_bytes(), 0
    while rest:
        inflate = zlib.decompressobj(31)
        assert inflate.decompress(rest).startswith(b"WARC/1.1\r\n")
        rest = inflate.unused_data
        members += 1
    assert members == 7


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_000])
def test_a_part_that_is_only_carried_is_gzip_like_any_other(size: int) -> None:
    data = random.Random(size).randbytes(size)
    made = stored(b"head " * 50, data, b"tail")
    inflate = zlib.decompressobj(31)
    assert inflate.decompress(made) == b"head " * 50 + data + b"tail"
    assert inflate.eof
    assert inflate.unused_data == b""
    assert len(made) < size + 100


def test_a_body_is_replayed_as_it_was_sent(tmp_path: Path) -> None:
    """Chunked and compressed: the coding stays, the chunks are gone and nobody looks for them."""
    headers = [(b"Transfer-Encoding", b"chunked"), (b"Content-Encoding", b"gzip")]
    path = archived(tmp_path, exchange(headers=headers, body=gzip.compress(PAGE)))
    check(path)
    with path.open("rb") as source:
        response = next(r for r in ArchiveIterator(source) if r.rec_type == "response")
        assert response.content_stream().read() == PAGE
        head = response.http_headers
        assert head.get_header("Transfer-Encoding") is None
        assert head.get_header("X-Crawl-Transfer-Encoding") == "chunked"
        assert head.get_header("Content-Length") == str(len(gzip.compress(PAGE)))


def test_a_body_that_did_not_come_compressed_is_compressed() -> None:
    for coding, least in ((b"identity", 0), (b"gzip", len(PAGE))):
        rows = Archivist(7, FACTS).rows(
            1, [exchange(headers=[(b"content-Encoding", coding)])], 1.8e9
        )
        assert (rows[1].first_bytes > len(PAGE)) == bool(least)


def test_a_body_that_was_cut_says_so(tmp_path: Path) -> None:
    path = archived(tmp_path, exchange(1, truncated=True), exchange(2))
    check(path)
    flags = [h.get("WARC-Truncated") for kind, h, _ in read(path) if kind == "response"]
    assert flags == ["length", None]


def test_a_payload_that_counts_is_referred_to(tmp_path: Path) -> None:
    archivist = Archivist(7, FACTS)
    rows = archivist.rows(1, [exchange(1), exchange(2, status=404)], 1.8e9)
    assert [row.kind for row in rows] == ["warcinfo", "response", "response"], "not settled yet"
    archivist.settled(1, [])
    rows += archivist.rows(2, [exchange(3, reason=b"Fine")], 1.8e9)
    path = archive(tmp_path, *rows)
    check(path)
    records_of = read(path)
    first = next(h for kind, h, _ in records_of if kind == "response")
    (revisit, block) = next((h, b) for kind, h, b in records_of if kind == "revisit")
    assert revisit["WARC-Profile"] == records.REVISIT_PROFILE
    assert revisit["WARC-Refers-To"] == first["WARC-Record-ID"]
    assert revisit["WARC-Refers-To-Target-URI"] == first["WARC-Target-URI"]
    assert revisit["WARC-Refers-To-Date"] == first["WARC-Date"]
    assert revisit["WARC-Payload-Digest"] == first["WARC-Payload-Digest"]
    assert block.startswith(b"HTTP/1.1 200 Fine\r\n")
    assert block.endswith(b"\r\n\r\n")


def test_what_does_not_count_is_not_referred_to() -> None:
    archivist = Archivist(7, FACTS)

    def kind_of_next(sequence: int) -> str:
        return archivist.rows(sequence, [exchange(9, token=3)], 1.8e9)[1].kind

    archivist.rows(1, [exchange(1, token=5)], 1.8e9)
    archivist.settled(1, [5])
    assert kind_of_next(2) == "response", "the lease was refused"
    assert kind_of_next(2) == "response", "written anew, since the disk failed"
    archivist.settled(2, [])
    assert kind_of_next(3) == "revisit"


def test_small_payloads_are_written_out_and_memory_is_bounded() -> None:
    archivist = Archivist(7, FACTS, limit=2)
    small = exchange(body=b"x" * (LEAST_BYTES - 1))
    bodies = [bytes([65 + n]) * LEAST_BYTES for n in range(3)]
    for sequence, body in enumerate(bodies, start=1):
        archivist.rows(sequence, [small, exchange(body=body)], 1.8e9)
        archivist.settled(sequence, [])
    rows = archivist.rows(4, [small, *(exchange(body=body) for body in bodies)], 1.8e9)
    assert [row.kind for row in rows[1:]] == ["response", "response", "revisit", "revisit"]


def test_the_same_batch_gives_the_same_bytes() -> None:
    batches = [Archivist(7, FACTS).rows(1, [exchange(1), exchange(2)], 1.8e9) for _ in range(2)]
    assert batches[0] == batches[1]


def test_what_came_from_the_web_cannot_forge_a_field(tmp_path: Path) -> None:
    path = archived(tmp_path, exchange(facts=(("problem", "bad\r\nfetchTimeMs: 0"),)))
    check(path)
    assert read(path)[3][2] == b"problem: bad fetchTimeMs: 0\r\n"


def test_the_index_leads_to_the_records(tmp_path: Path) -> None:
    urls = ["https://b.example/", "https://www.a.example/Z?y=1&x=2", "http://a.example:81/"]
    path = archived(tmp_path, *(exchange(n, url=url) for n, url in enumerate(urls)))
    lines = path.with_name("test.cdxj").read_bytes().splitlines(keepends=True)
    assert lines == sorted(lines)
    keys = [line.decode().split(" ", 2)[:2] for line in lines]
    assert keys == [
        ["example,a)/z?x=2&y=1", "20270115080001"],
        ["example,a:81)/", "20270115080002"],
        ["example,b)/", "20270115080000"],
    ]
    whole = path.read_bytes()
    for line in lines:
        told = json.loads(line.decode().split(" ", 2)[2])
        offset, length = int(told["offset"]), int(told["length"])
        assert told["filename"] == "test.warc.gz"
        assert told["mime"] == "text/html"
        (record,) = ArchiveIterator(io.BytesIO(whole[offset : offset + length]))
        assert record.rec_headers.get_header("WARC-Target-URI") == told["url"]
        assert record.rec_headers.get_header("WARC-Payload-Digest") == told["digest"]


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://example.org/", "org,example)/"),
        ("http://www2.Example.org/A//B/", "org,example)/a/b"),
        ("https://example.org:8080/x?b=2&a=1&a=0", "org,example:8080)/x?a=0&a=1&b=2"),
        ("http://192.0.2.1/x", "1,2,0,192)/x"),
        ("http://[2001:db8::1]:81/x", "2001:db8::1:81)/x"),
        ("https://example.org/%7Eu/%E4%BD%A0%2520", "org,example)/~u/%e4%bd%a0%20"),
        (f"https://example.org/a?b=1&PHPSESSID={'0a' * 16}&c=2", "org,example)/a?b=1&c=2"),
        (f"https://example.org/(S({'a1' * 12}))/x.aspx", "org,example)/x.aspx"),
        ("https://example.org/a?", "org,example)/a"),
    ],
)
def test_keys_are_those_of_the_internet_archive(url: str, key: str) -> None:
    assert surt(url) == key
