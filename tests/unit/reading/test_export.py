"""`mannerly export`: formats, filters, archives, and outputs that are whole or not there."""

import csv
import gzip
import hashlib
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from mannerly.errors import StoreError, UsageError
from tests.programs import environment
from tests.unit.reading.crawled import fill, page_of, run, run_well

HOUR = 3600
START = 1_800_000_000.0  # 2027-01-15 08:00 UTC


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    fill(
        tmp_path / "data",
        page_of("https://a.test/one", language="en-gb", text="x" * 10, fetched_at=START),
        page_of("https://www.a.test/2", language="en", text="x" * 99, fetched_at=START + HOUR),
        page_of("http://b.test/", language="de", text="", fetched_at=START + 2 * HOUR),
    )
    fill(tmp_path / "data", page_of("https://c.test/", language="english", title="C"), writer=2)
    return tmp_path / "data"


def exported(data_dir: Path, *words: object) -> list[str]:
    lines = run_well("export", "--data-dir", data_dir, *words).splitlines()
    return sorted(json.loads(line)["url"] for line in lines)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "1 2 b c"),
        (["--site", "a.test"], "1 2"),
        (["--site", "WWW.a.test"], "2"),
        (["--site", "b.test", "--site", "c.test"], "b c"),
        (["--language", "en"], "1 2"),
        (["--language", "EN-GB", "--language", "de"], "1 b"),
        (["--since", "2027-01-15T09:00", "--site", "a.test"], "2"),
        (["--since", "2027-01-15T11:00+02:00", "--until", "2027-01-15T10:00"], "2"),
        (["--until", "2027-01-15T09:00:00Z", "--site", "a.test"], "1"),
        (["--since", "1d"], ""),
        (["--min-chars", "11"], "2 c"),
        (["--where", "title = 'C' -- and nothing else"], "c"),
        (["--where", "depth = 2 OR true", "--site", "b.test"], "b"),
    ],
)
def test_filters(data_dir: Path, words: list[str], expected: str) -> None:
    names = {"1": "https://a.test/one", "2": "https://www.a.test/2", "b": "http://b.test/",
             "c": "https://c.test/"}  # fmt: skip
    if "1d" in words:
        # The pages are of the year 2027: none of them is older than a day from now, or all are.
        assert exported(data_dir, *words) in ([], sorted(names.values()))
        return
    assert exported(data_dir, *words) == sorted(names[name] for name in expected.split())


def test_limit_and_several_directories(data_dir: Path, tmp_path: Path) -> None:
    fill(tmp_path / "more", page_of("https://more.test/"), close=False)
    assert len(exported(data_dir, "--limit", "2")) == 2
    assert len(exported(data_dir, "--data-dir", tmp_path / "more")) == 5


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--where", "nope = 1"], "nope"),
        (["--where", "1 = 1) ; DROP VIEW pages; SELECT (1"], "one statement"),
        (["--since", "yesterday"], "--since: 'yesterday' does not fit"),
        (["--no-duplicates"], "does not tell duplicates"),
        (["--format", "warc"], "--keep warc"),
        (["--format", "jsonl", "--output", "x.csv"], "the name says csv"),
        (["--output", "x"], "does not tell the format"),
        (["--format", "csv", "--output", "."], "is a directory"),
        (["--output", "no/such/place.csv"], "cannot write"),
        (["--format", "text", "--output", "full"], "not empty"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    if told == "does not tell duplicates":
        fields = run_well("query", "--data-dir", data_dir, "--format", "csv", "DESCRIBE pages")
        if "duplicate_of" in fields:
            assert len(exported(data_dir, *words)) == 4
            return
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    error = run("export", "--data-dir", data_dir, *words).exception
    assert isinstance(error, UsageError), error
    assert told in str(error)
    assert "\n" not in str(error)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_output_is_whole_or_as_it_was(data_dir: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    output.write_text("from yesterday")
    late = "CASE WHEN url LIKE '%c.test%' THEN 'x'::INT = 1 ELSE true END"
    for words in (["--output", output], ["--format", "text", "--output", tmp_path / "dir"]):
        assert run("export", "--data-dir", data_dir, "--where", late, *words).exception
    assert output.read_text() == "from yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "data"]


def test_compressed_by_suffix(data_dir: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "a.csv.gz", "a.csv.zst", "a.wet", "a.wet.gz", "a.wet.zst"):
        run_well("export", "--data-dir", data_dir, "--output", tmp_path / name)
    plain = (tmp_path / "a.csv").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == plain
    packed = io.BytesIO((tmp_path / "a.csv.zst").read_bytes())
    assert zstandard.ZstdDecompressor().stream_reader(packed).read() == plain
    assert len(list(csv.reader(io.StringIO(plain.decode(), newline="")))) == 5
    wet = (tmp_path / "a.wet").read_bytes()
    frames = io.BytesIO((tmp_path / "a.wet.zst").read_bytes())
    unpacked = zstandard.ZstdDecompressor().stream_reader(frames, read_across_frames=True).read()
    for other in (unpacked, gzip.decompress((tmp_path / "a.wet.gz").read_bytes())):
        # But for the first record, which has its own id and time.
        assert (
            other.partition(b"WARC-Type: conversion")[2]
            == (wet.partition(b"WARC-Type: conversion")[2])
        )


def test_wet_is_what_warc_tools_read(data_dir: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.wet.gz"
    run_well("export", "--data-dir", data_dir, "--output", output, "--site", "a.test")
    with output.open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers, record.content_stream().read().decode())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, _, _ in records] == ["warcinfo", "conversion", "conversion"]
    _, headers, text = records[1]
    assert text == "Page 1\n" + "x" * 10
    assert headers.get_header("WARC-Target-URI") == "https://a.test/one"
    assert headers.get_header("WARC-Date") == "2027-01-15T08:00:00.000000Z"
    assert headers.get_header("WARC-Identified-Content-Language") == "en-gb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of parts of its own when it is imported
        from fastwarc.warc import ArchiveIterator as FastIterator  # noqa: PLC0415
    with output.open("rb") as file:
        assert [record.verify_block_digest() for record in FastIterator(file)] == [True] * 3
    checked = Checker(_CheckOptions([str(output)]))
    checked.process_all()
    assert checked.exit_value == 0


class _CheckOptions:
    """What `warcio check` is called with."""

    verbose = False

    def __init__(self, inputs: list[str]) -> None:
        self.inputs = inputs


def test_a_directory_has_a_file_for_each_page(data_dir: Path, tmp_path: Path) -> None:
    run_well("export", "--data-dir", data_dir, "--format", "markdown", "--output", tmp_path / "md")
    lines = (tmp_path / "md" / "index.jsonl").read_text().splitlines()
    index = {entry["url"]: entry["file"] for entry in map(json.loads, lines)}
    assert len(index) == 4
    assert index["https://a.test/one"].startswith("a.test/one-")
    assert "# C\n" in (tmp_path / "md" / index["https://c.test/"]).read_text()
    assert len(list((tmp_path / "md").rglob("*.md"))) == 4
    # The same page of two crawls is two files.
    fill(tmp_path / "more", page_of("https://c.test/"))
    run_well("export", "--data-dir", data_dir, "--data-dir", tmp_path / "more", "--format", "text",
             "--output", f"{tmp_path}/both/")  # fmt: skip
    assert len(list((tmp_path / "both").rglob("*.txt"))) == 5


def record(kind: str, url: str, block: bytes, more: str = "") -> bytes:
    """A record as a gzip member. Its id is made of its URL."""
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{url}>\r\n{more}"
    head += f"WARC-Date: 2027-01-15T08:00:00Z\r\nContent-Length: {len(block)}\r\n"
    head += f"WARC-Target-URI: {url}\r\n" if kind != "warcinfo" else ""
    return gzip.compress(head.encode() + b"\r\n" + block + b"\r\n\r\n")


def keep_warc(data_dir: Path, name: str) -> None:
    """An archive as a crawl keeps it: a member for each record, a repeat as revisit."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    large = b"".join(hashlib.sha256(bytes([n % 256, n // 256])).digest() for n in range(20_000))
    records = [record("warcinfo", "info", b"software: test\r\n")]
    for url in ("https://a.test/one", "https://c.test/", "https://a.test/robots.txt"):
        records.append(record("response", url, http + large))
        records.append(record("request", url, b"GET / HTTP/1.1\r\n\r\n"))
    more = "WARC-Refers-To: <https://a.test/one>\r\n"
    records.append(record("revisit", "http://b.test/", http, more))
    (data_dir / "warc").mkdir(exist_ok=True)
    (data_dir / "warc" / name).write_bytes(b"".join(records))


def targets(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        return [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI") or "")
            for record in ArchiveIterator(file, check_digests="raise")
        ]


def test_warc_has_the_records_that_were_kept(data_dir: Path, tmp_path: Path) -> None:
    keep_warc(data_dir, f"{1:016x}-000001.warc.gz")
    kept = data_dir / "warc" / f"{1:016x}-000001.warc.gz"
    words = ["export", "--data-dir", data_dir, "--output"]
    run_well(*words, tmp_path / "all.warc.gz")
    assert (tmp_path / "all.warc.gz").read_bytes() == kept.read_bytes()
    run_well(*words, tmp_path / "all.warc")
    assert targets(tmp_path / "all.warc") == targets(kept)
    run_well(*words, tmp_path / "c.warc.gz", "--site", "c.test")
    assert targets(tmp_path / "c.warc.gz") == [
        ("warcinfo", ""),
        ("response", "https://c.test/"),
        ("request", "https://c.test/"),
    ]
    told = run(*words, tmp_path / "b.warc.gz", "--site", "b.test", "--site", "www.a.test").stderr
    assert "1 pages written" in told
    assert "(4 records, 2 of them responses; 1 chosen pages are in no archive" in told
    assert targets(tmp_path / "b.warc.gz") == [
        ("warcinfo", ""),
        ("response", "https://a.test/one"),  # what the last one repeats
        ("request", "https://a.test/one"),
        ("revisit", "http://b.test/"),
    ]


def test_a_damaged_archive_is_said_so(data_dir: Path, tmp_path: Path) -> None:
    keep_warc(data_dir, "x.warc.gz")
    kept = data_dir / "warc" / "x.warc.gz"
    whole = kept.read_bytes()
    for broken in (whole[:-5], whole[: len(whole) // 2], b"nonsense" + whole):
        kept.write_bytes(broken)
        words = ["export", "--data-dir", data_dir, "--output", tmp_path / "out.warc.gz"]
        error = run(*words).exception
        assert isinstance(error, StoreError), error
        assert not (tmp_path / "out.warc.gz").exists()


def test_memory_does_not_grow_with_the_export(tmp_path: Path) -> None:
    pages = [page_of(f"https://a.test/{n}", text=f"{n} " * 40_000) for n in range(900)]
    fill(tmp_path / "data", *pages)
    program = (
        "import resource, sys\n"
        "from mannerly.cli import app\n"
        "for limit in ('1', '900'):\n"
        "    app.main([*sys.argv[1:], '--limit', limit], standalone_mode=False)\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    words = ["export", "--data-dir", str(tmp_path / "data"), "--format", "wet"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, check=True, env=environment(),
    )  # fmt: skip
    few, many = map(int, done.stderr.split())
    assert many - few < 100_000, "kB, for texts of 170,000 kB"
