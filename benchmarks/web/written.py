"""The simulated web, written out once: a folder for each host, a file for each page.

Pages are laid out anew (`layout`); their URLs and links, robots.txt and sitemaps are those of
`mannerly.simweb`. So whoever crawls the files meets the same pages as on the simulated server, and
the server has nothing to do but to send them: bodies are compressed beforehand.

Only webs in which all is well can be written (the preset `plain`): a file cannot be late or broken.
"""

import json
import os
import random
import shutil
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from benchmarks.web.layout import Layout
from mannerly.simweb.answer import Answer
from mannerly.simweb.spec import WebSpec
from mannerly.simweb.web import Web, split

HOME = "@home"
"""The file of a home page: a folder's name cannot be a file's."""
DONE = "done.json"
FORMAT = 1
"""To be raised with every change of what is written, so that older folders are not taken for it."""
LEVEL = 6
"""Of gzip: what servers use."""
BATCH = 50


def written(spec: WebSpec, folder: Path) -> Path:
    """The web's own folder inside `folder`. It is made if it is not there whole."""
    told = json.dumps({"format": FORMAT, **asdict(spec)}, sort_keys=True)
    place = folder / sha256(told.encode()).hexdigest()[:16]
    if not (place / DONE).exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        starts = range(0, spec.sites, BATCH)
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            pages = sum(pool.map(partial(_write_sites, spec, place), starts))
        seeds = map(Web(spec).home, range(spec.sites))
        (place / "seeds.txt").write_text("".join(f"{seed}\n" for seed in seeds))
        (place / DONE).write_text(json.dumps({"pages": pages, "web": told}) + "\n")
    return place


def path_of(url: str) -> str:
    """The path of a URL's file, under the folder `hosts`; that of a page has `.gz` behind it.

    As nginx makes it out of a request: without escapes, and a query behind an `@`.
    """
    _, host, target = split(url)
    path, _, query = target.partition("?")
    name = HOME if path == "/" else unquote(path).removeprefix("/")
    return f"{host}/{name}@{query}" if query else f"{host}/{name}"


def _write_sites(spec: WebSpec, place: Path, start: int) -> int:
    web = Web(spec)
    indexes = range(start, min(start + BATCH, spec.sites))
    return sum(_write_site(web, place / "hosts", index) for index in indexes)


def _write_site(web: Web, hosts: Path, index: int) -> int:
    for url, body in site_files(web, index):
        _put(hosts / path_of(url), body)
    for url, packed in site_pages(web, index):
        _put(hosts / f"{path_of(url)}.gz", packed)
    return web.site(index).pages


def site_files(web: Web, index: int) -> Iterator[tuple[str, bytes]]:
    """robots.txt of each of a site's hosts and its sitemap, where there are any."""
    site = web.site(index)
    for host in (site.host, *site.subhosts):
        for name in ("robots.txt", "sitemap.xml"):
            url = f"{site.scheme}://{host}/{name}"
            answer = web.answer(url)
            if answer.status == 200:
                yield url, answer.body


def site_pages(web: Web, index: int) -> Iterator[tuple[str, bytes]]:
    """Every page of a site, those included that robots.txt forbids, as gzip."""
    site = web.site(index)
    layout = Layout(site.salt, site.origin, site.language)
    for number in range(site.pages):
        page = web.pages.page(site, number)
        answer = web.answer(page.url)
        hrefs = [link.href for link in _plain(answer, page.url).content.links()]
        body = layout.page(page.key, page.url, hrefs, _size(web.spec, page.key))
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)
        yield page.url, packer.compress(body) + packer.flush()


def _size(spec: WebSpec, key: int) -> int:
    size = random.Random(key).lognormvariate(spec.body_mu, spec.body_spread)
    return int(min(size, spec.body_max))


def _plain(answer: Answer, url: str) -> Answer:
    plain = answer.status == 200 and answer.content_type == "text/html; charset=utf-8"
    if not plain or answer.extra or answer.latency_s or answer.chunked or not answer.keep_alive:
        raise ValueError(f"{url} answers with {answer.kind}: it cannot be written as a file")
    return answer


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
