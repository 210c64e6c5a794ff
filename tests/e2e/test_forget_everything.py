"""`mannerly forget` of a crawl that keeps everything: links, WARC, a search index. Of the site no
word is left in any file; of a site that served the same bytes nothing is lost."""

import asyncio
import gzip
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from mannerly.checking import Report, check, repair
from mannerly.config import load
from mannerly.forgetting import forget
from mannerly.store.read import open_store
from mannerly.store.tables import VIEWS
from tests.programs import QUICK, arguments, environment, mannerly

GOES, STAYS = "goes.example", "stays.example"
SECRET = "quagmire"
SHARED = "<title>shared</title><p>" + "The very same words on both sites. " * 40


def page_of(host: str, path: str) -> str | None:
    """The twin page is the last that is met of the site that stays: by then the other's counts."""
    word = SECRET if host == GOES else "placid"
    if path == "/robots.txt":
        return f"User-agent: *\nDisallow: /{word}-private\n"
    if path == "/twin":
        return SHARED
    if path == "/" and host == GOES:
        links = "".join(f'<a href="/{n}">{word}{n}</a>' for n in range(5)) + '<a href="/twin">'
        return f"<title>{word}</title><p>{word} home {links}"
    step = int(path[1:] or 0)
    after = f'<a href="/{step + 1}">next</a>' if step < 25 else '<a href="/twin">twin</a>'
    return f"<title>{word} {step}</title><p>{word} text number {step} of {host} {after}"


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        page = page_of(self.headers["Host"].partition(":")[0], self.path)
        body = (page or "").encode()
        self.send_response(200 if page is not None else 404)
        kind = "text/plain" if self.path == "/robots.txt" else "text/html"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told: object) -> None:
        pass


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("everything")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    data = directory / "data"
    seeds = directory / "seeds.txt"
    seeds.write_text(f"http://{GOES}/\nhttp://{STAYS}/\n")
    try:
        done = mannerly(
            "crawl", *arguments(QUICK), "--data-dir", str(data), "--seed-file", str(seeds),
            "--connect-to", f"127.0.0.1:{server.server_address[1]}", "--keep", "links,warc",
            "--segment-age", "500ms", "--segment-size", "8KiB",
            "--checkpoint-interval", "100ms", "--no-yield-guard",
        )  # fmt: skip
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert done.returncode == 0, done.stderr
    done = mannerly("search", "--data-dir", str(data), SECRET)
    assert GOES in done.stdout, done.stderr
    return data


@pytest.fixture
def data(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "data"))


def look(data: Path) -> Report:
    return asyncio.run(check(load({"data_dir": str(data)}, environ={})))


def contents(path: Path) -> bytes:
    """All that can be read in a file, unpacked."""
    if path.suffix == ".parquet":
        return repr(pq.read_table(path).to_pylist()).encode()
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    return path.read_bytes()


def holders(data: Path, word: str) -> list[str]:
    return sorted(
        str(path.relative_to(data))
        for path in data.rglob("*")
        if path.is_file() and word.encode() in contents(path)
    )


def archived(data: Path) -> dict[str, tuple[str, bytes]]:
    found = {}
    for path in sorted((data / "warc").glob("*.warc.gz")):
        with path.open("rb") as source:
            for record in ArchiveIterator(source):
                if record.rec_type in ("response", "revisit"):
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    found[url] = (record.rec_type, record.content_stream().read())
    return found


def rows_of(data: Path, site: str) -> dict[str, list[str]]:
    with open_store(data) as store:
        return {
            table.name: sorted(
                map(repr, store.execute(f"FROM {table.name} WHERE site = '{site}'").fetchall())
            )
            for table in VIEWS
            if "site" in table.public.names
        }


def check_archives(data: Path) -> None:
    files = sorted((data / "warc").glob("*.warc.gz"))
    tool = Path(sys.executable).parent / "warcio"
    done = subprocess.run([tool, "check", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def check_gone(data: Path, before: dict[str, list[str]]) -> None:
    assert holders(data, SECRET) == []
    assert [it for it in holders(data, GOES) if not it.startswith("forgotten/")] == ["frontier.db"]
    assert rows_of(data, STAYS) == before
    assert not any(rows_of(data, GOES).values())
    assert look(data).findings == []
    check_archives(data)
    there = archived(data)
    assert f"http://{STAYS}/25" in there
    assert there[f"http://{STAYS}/twin"] == ("response", SHARED.encode())
    assert not [*data.rglob("*.tmp")]


def test_no_word_is_left_and_the_twin_keeps_its_page(data: Path) -> None:
    assert archived(data)[f"http://{STAYS}/twin"][0] == "revisit"  # of the other site's
    assert {it.partition("/")[0] for it in holders(data, SECRET)} >= {"pages", "warc", "search"}
    before = rows_of(data, STAYS)
    assert before["links"]
    assert before["requests"]
    assert look(data).findings == []
    done = mannerly("forget", "--json", "--data-dir", str(data), GOES)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["rows"]
    assert set(told) == {"pages", "links", "warc", "requests", "fetches"}
    assert told["warc"] == told["pages"] + 1  # and robots.txt
    check_gone(data, before)
    found = mannerly("search", "--data-dir", str(data), "placid", "--json")
    assert json.loads(found.stdout)["total"] > 20
    assert mannerly("search", "--data-dir", str(data), SECRET, "--json").returncode == 0
    again = json.loads(mannerly("forget", "--json", "--data-dir", str(data), GOES).stdout)
    assert (again["rows"], again["files"]) == ({}, [])


KILLED = """
import asyncio, os, signal, sys
from mannerly.config import load
from mannerly.forgetting import forget, forgetter
from mannerly.store.disk import Disk

where, number = sys.argv[3].split(":")
left = [int(number)]

def killing(function):
    def call(*arguments, **more):
        result = function(*arguments, **more)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

if where == "rename":
    Disk.rename = killing(Disk.rename)
elif where == "remove":
    Disk.remove = killing(Disk.remove)
else:
    setattr(forgetter, where, killing(getattr(forgetter, where)))
asyncio.run(forget(load({"data_dir": sys.argv[1]}, environ={}), sys.argv[2]))
"""


def kill_and_finish(data: Path, site: str, step: str) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(data), site, step],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert killed.returncode == -9, killed.stderr
    asyncio.run(forget(load({"data_dir": str(data)}, environ={}), site))


@pytest.mark.parametrize("step", ["rename:1", "rename:3", "rename:4", "rename:6", "forget_words:1"])
def test_killed_at_any_step_it_is_finished_by_running_it_again(data: Path, step: str) -> None:
    before = rows_of(data, STAYS)
    kill_and_finish(data, GOES, step)
    check_gone(data, before)


@pytest.mark.parametrize("step", ["remove:1"])
def test_killed_where_a_whole_file_goes(data: Path, step: str) -> None:
    """The other site has files of its own: it was crawled for longer."""
    before = rows_of(data, GOES)
    kill_and_finish(data, STAYS, step)
    assert holders(data, "placid") == []
    assert rows_of(data, GOES) == before
    assert look(data).findings == []
    assert {path.stem for path in (data / "warc").glob("*.cdxj")} == {
        path.name.removesuffix(".warc.gz") for path in (data / "warc").glob("*.warc.gz")
    }


def test_a_damaged_archive_is_found_and_its_whole_records_are_kept(data: Path) -> None:
    path = max((data / "warc").glob("*.warc.gz"), key=lambda it: it.stat().st_size)
    before = archived(data)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)
    (damaged,) = [it for it in look(data).problems if "damaged" in it.what]
    assert damaged.where == f"warc/{path.name}"
    report = asyncio.run(repair(load({"data_dir": str(data)}, environ={})))
    assert any("is in lost+found" in it for it in report.mended)
    assert (data / "lost+found" / f"warc-{path.name}").read_bytes() == bytes(content)
    check_archives(data)
    after = archived(data)
    assert after == {url: it for url, it in before.items() if url in after}
    assert len(after) >= len(before) - 1
    assert not any("damaged" in it.what or "index" in it.what for it in report.problems)


def test_an_index_that_does_not_fit_is_made_anew(data: Path) -> None:
    index = max((data / "warc").glob("*.cdxj"), key=lambda it: it.stat().st_size)
    right = index.read_bytes()
    index.write_bytes(right.replace(b'"offset": "', b'"offset": "1'))
    (problem,) = look(data).problems
    assert "its index does not fit" in problem.what
    report = asyncio.run(repair(load({"data_dir": str(data)}, environ={})))
    assert report.findings == []
    assert index.read_bytes() == right


def test_an_archive_that_is_gone_is_missed(data: Path) -> None:
    path = max((data / "warc").glob("*.warc.gz"), key=lambda it: it.stat().st_size)
    path.unlink()
    (problem,) = look(data).problems
    assert problem.where == f"warc/{path.name}"
    assert "rows are not there any more" in problem.what


def test_the_search_index_of_other_sites_stays(data: Path) -> None:
    index = data / "search" / "index.db"
    with sqlite3.connect(index) as database:
        database.execute("DELETE FROM docs WHERE site = ?", (GOES,))
    before = index.stat().st_ino
    assert mannerly("forget", "--data-dir", str(data), GOES).returncode == 0
    assert index.stat().st_ino == before
