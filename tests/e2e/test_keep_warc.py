"""`--keep warc`: what the server saw is in the archive, each exchange once, kill -9 included."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from warcio.archiveiterator import ArchiveIterator

from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from tests.programs import QUICK, Served, arguments, mannerly, served, start

SMALL = {"pages_mean": 8.0, "pages_max": 40, "body_mean": 6000, "links_min": 10, "links_max": 20}


def crawl_words(web: Served, directory: Path, *more: str) -> list[str]:
    seeds = web.write_seeds(directory / "seeds.txt")
    return ["crawl", "--seed-file", str(seeds), "--data-dir", str(directory / "data"),
            "--connect-to", web.address, "--keep", "warc", *arguments(QUICK), *more]  # fmt: skip


def archived(data_dir: Path) -> Iterator[tuple[str, str, int, bytes]]:
    """Type, URL, status and decoded body of every response and revisit."""
    for path in sorted((data_dir / "warc").glob("*.warc.gz")):
        with path.open("rb") as source:
            for record in ArchiveIterator(source):
                if record.rec_type in ("response", "revisit"):
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    status = int(record.http_headers.get_statuscode())
                    yield record.rec_type, url, status, record.content_stream().read()


def check_files(data_dir: Path) -> None:
    files = sorted((data_dir / "warc").glob("*.warc.gz"))
    assert files
    for path in files:
        subprocess.run(["gzip", "-t", path], check=True)
        assert path.with_name(path.name.replace(".warc.gz", ".cdxj")).is_file()
    tools = Path(sys.executable).parent
    checks: list[list[Path | str]] = [[tools / "warcio", "check", *files]]
    checks += [[tools / "fastwarc", "check", "-q", path] for path in files]
    for words in checks:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert not list(data_dir.rglob("*.tmp"))


def test_everything_that_was_read_is_archived(tmp_path: Path) -> None:
    """Pages, redirects, errors, tries in vain and robots.txt."""
    spec = preset("mixed", seed=5, sites=40, traps=False, stalling_sites=0.0, closing_sites=0.0,
                  stalled_pages=0.0, stopped_pages=0.0, cut_pages=0.0, https=0.3,
                  latency_s=0.01, slow_latency_s=0.1, **SMALL)  # fmt: skip
    with served(tmp_path, spec) as web:
        done = mannerly(*crawl_words(web, tmp_path))
        assert done.returncode == 0, done.stderr
        seen = Counter((r.url, r.status) for r in web.records() if r.sent_whole and r.status)
    check_files(tmp_path / "data")
    there = list(archived(tmp_path / "data"))
    kept = Counter((url, status) for _, url, status, _ in there)
    left_out = seen - kept
    assert not kept - seen
    # A page that says noindex (or none, which is the same) is not kept; nothing else is missing.
    assert left_out
    assert all(status == 200 and forbids_a_copy(web, url) for url, status in left_out)
    assert {status // 100 for _, status in kept} == {2, 3, 4, 5}
    assert any(urlsplit(url).path == "/robots.txt" for url, _ in kept)
    with open_store(tmp_path / "data") as store:
        pages = store.execute("SELECT url, body_bytes FROM pages").fetchall()
    whole = {url: len(body) for kind, url, status, body in there if kind == "response"}
    repeated = {url for kind, url, *_ in there if kind == "revisit"}
    assert all(url in repeated or whole[url] == size for url, size in pages)


def forbids_a_copy(web: Served, url: str) -> bool:
    answer = web.web.answer(url)
    source = answer.body + str(answer.headers(0.0)).encode()
    return re.search(rb"noindex|['\"]none['\"]", source) is not None


def test_killed_and_resumed_each_page_is_archived_once(tmp_path: Path) -> None:
    spec = preset("plain", seed=3, sites=60, latency_s=0.02, **SMALL)
    data_dir = tmp_path / "data"
    with served(tmp_path, spec) as web:
        words = crawl_words(web, tmp_path)
        resumed = [*words, "--resume"]
        kills = 0
        for attempt in range(4):
            process = start(*(words if attempt == 0 else resumed))
            files = set(data_dir.rglob("*.seg"))
            deadline_at = time.monotonic() + 60
            # Not before it has journalled something of its own.
            while process.poll() is None and not grown(data_dir, files):
                assert time.monotonic() < deadline_at
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.communicate()
        done = mannerly(*resumed)
        assert done.returncode == 0, done.stderr
    assert kills >= 2
    check_files(data_dir)
    no_pages = ("/robots.txt", "/sitemap.xml")
    kept = Counter(url for _, url, *_ in archived(data_dir) if not url.endswith(no_pages))
    with open_store(data_dir) as store:
        pages = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
    assert kept == Counter(pages)
    assert len(pages) > 100


def grown(data_dir: Path, before: set[Path]) -> bool:
    """Whether there is a new journal with more in it than a head."""
    try:
        sizes = (path.stat().st_size for path in set(data_dir.rglob("*.seg")) - before)
        return any(size > 10_000 for size in sizes)
    except FileNotFoundError:  # a journal that was rolled while it was looked at
        return False
