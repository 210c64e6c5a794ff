"""A web of files that nginx serves is the simulated web: crawlers store the same pages of both."""

import zlib
from argparse import ArgumentParser, Namespace
from http.client import HTTPConnection
from pathlib import Path

import pytest
from benchmarks.crawl.crawling import crawl
from benchmarks.crawl.webs import served_web, spec_of, web_options
from benchmarks.frontier.engines import SqliteEngine
from benchmarks.web import nginx
from benchmarks.web.written import path_of, written
from selectolax.lexbor import LexborHTMLParser

from mannerly.simweb.reach import pages_among, reachable
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web, split
from mannerly.store.read import open_store


def small(*words: str) -> Namespace:
    parser = ArgumentParser()
    web_options(parser, sites=12, pages_mean=4.0, pages_max=20)
    return parser.parse_args(words)


def stored(server: str, folder: Path) -> tuple[str, set[str]]:
    """Who served the small web, and what a crawl of it stored."""
    options = small("--server", server, "--webs", str(folder / "webs"))
    with served_web(options, folder) as web:
        crawl(web, SqliteEngine(folder / "unused.db"), folder / "crawl")
    with open_store(folder / "crawl" / "data") as store:
        return web.server, {url for (url,) in store.execute("SELECT url FROM pages").fetchall()}


def test_a_crawl_stores_the_same_pages_of_both_servers(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "simulated").mkdir()
    web = Web(spec_of(small()))
    homes = [web.home(index) for index in range(web.spec.sites)]
    truth = pages_among(web, reachable(web, homes))
    assert len(truth) > 40
    assert stored("auto", tmp_path / "files") == ("nginx", truth)
    assert stored("simweb", tmp_path / "simulated") == ("simweb", truth)


def test_a_written_page_has_the_links_of_the_simulated_one(tmp_path: Path) -> None:
    spec = preset("plain", sites=3, pages_mean=4, pages_max=10, https=0.0)
    web, place = Web(spec), written(spec, tmp_path)
    for index in range(spec.sites):
        url = web.home(index)
        body = zlib.decompress((place / "hosts" / f"{path_of(url)}.gz").read_bytes(), 31)
        found = [node.attributes["href"] for node in LexborHTMLParser(body).css("a[href]")]
        simulated = LexborHTMLParser(web.answer(url).body)
        wanted = [node.attributes["href"] for node in simulated.css("a[href]")]
        # A page like a real one also has a link to its own middle, and one to write to somebody.
        assert sorted(map(str, found)) == sorted(
            [
                *map(str, wanted),
                "#main",
                *(str(it) for it in found if str(it).startswith("mailto:")),
            ]
        )


def test_a_page_with_a_query_and_escapes_is_found(tmp_path: Path) -> None:
    spec = preset("plain", seed=119, sites=3, pages_mean=8, pages_max=20, https=0.0)
    web = Web(spec)
    sites = [web.site(index) for index in range(spec.sites)]
    urls = [web.pages.url(site, number) for site in sites for number in range(site.pages)]
    asked = [url for url in urls if "?" in url]
    assert asked == ["http://solid-lemur-1.test/people/caf%C3%A9-list-4?sort=asc"]
    with nginx.served(written(spec, tmp_path), tmp_path / "nginx") as serving:
        for url in asked:
            _, host, target = split(url)
            connection = HTTPConnection(serving.address)
            connection.request("GET", target, headers={"Host": host})
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Content-Encoding"]) == (200, "gzip")
            assert f'"{url}"' in zlib.decompress(answer.read(), 31).decode()
            connection.close()


def test_what_was_written_whole_is_not_written_again(tmp_path: Path) -> None:
    spec = preset("plain", sites=2, pages_mean=2, pages_max=4, https=0.0)
    place = written(spec, tmp_path)
    page = next((place / "hosts").rglob("@home.gz"))
    page.unlink()
    assert written(spec, tmp_path) == place
    assert not page.exists()
    (place / "done.json").unlink()  # as after a kill in the middle
    assert written(spec, tmp_path) == place
    assert page.exists()


def test_a_web_that_misbehaves_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        written(preset("hostile", sites=20, traps=False), tmp_path)
