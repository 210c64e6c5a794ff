"""`--keep links,warc` in a simulated world: complete, true to the pages, repeatable."""

from collections import Counter
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from tests.simulation.world import Lived, live

SPEC = preset("plain", seed=3, sites=25, pages_mean=8.0, pages_max=40, body_mean=3000,
              links_min=8, links_max=16)  # fmt: skip


def crawled(data_dir: Path) -> Lived:
    return live(Web(SPEC), data_dir, delay=70.0, keep=frozenset({"links", "warc"}))


def test_the_archive_has_every_request_and_the_graph_every_page(tmp_path: Path) -> None:
    lived = crawled(tmp_path)
    kept: Counter[str] = Counter()
    for path in (tmp_path / "warc").glob("*.warc.gz"):
        with path.open("rb") as source:
            for record in ArchiveIterator(source, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type in ("response", "revisit"):
                    kept[record.rec_headers.get_header("WARC-Target-URI")] += 1
    assert kept == Counter(record.url for record in lived.records)
    with open_store(tmp_path) as store:
        pages = store.execute("SELECT url_hash, links FROM pages WHERE links > 0").fetchall()
        linked = store.execute("SELECT url_hash, count(*) FROM links GROUP BY ALL").fetchall()
        words = store.execute("SELECT count(*) FROM links WHERE anchor = '' AND kind = 'a'")
        assert words.fetchone() == (0,)
        joined = store.execute(
            "SELECT count(*) FROM links l JOIN pages p ON l.target_hash = p.url_hash "
            "WHERE l.target <> p.url"
        )
        assert joined.fetchone() == (0,)
    assert len(pages) > 50
    assert sorted(linked) == sorted(pages)


def test_the_same_crawl_gives_the_same_files(tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        crawled(tmp_path / name)
        warc = tmp_path / name / "warc"
        files.append({path.name: path.read_bytes() for path in warc.iterdir()})
    assert files[0] == files[1]
    assert len(files[0]) == 2
