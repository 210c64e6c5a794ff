"""A small web, crawled inside one process from memory and on virtual time: each time the same.

Everything but sockets, threads and time is the real thing: engine, parser, frontier in SQLite,
journal and Parquet. Pages are made beforehand, packed as a server sends them, and handed out as
they are. Beside it there is a **reference**: a bare loop of the same libraries over the same pages,
without frontier, manners or store. What a page costs is told as a multiple of it, so that another
build of Python or another processor changes little in it.
"""

import asyncio
import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import can_ada
from isal import isal_zlib
from selectolax.lexbor import LexborHTMLParser
from xxhash import xxh3_64_intdigest

from benchmarks.web.written import site_files, site_pages
from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import Clock, InlineExecutor, VirtualClock, VirtualRunner
from mannerly.config import Config, build
from mannerly.fetch.contract import Admit, Fetched, anywhere
from mannerly.model import NewUrl, Priority, Source
from mannerly.observe.tally import Tally
from mannerly.simweb.spec import WebSpec
from mannerly.simweb.web import Web
from mannerly.store import JournalStore
from mannerly.url import Exclusions, SiteKey, host_of, url_hash

ADDRESS = "192.0.2.1"
LATENCY_S = 0.01
WORKERS = 10
"""Few and fast, so that a checkpoint has dozens of pages, as in a crawl that is worth measuring."""
GZIP = 31  # zlib's `wbits`


class Scene:
    """What is asked for in a crawl: the answers of a small web. Can be pickled."""

    def __init__(self, spec: WebSpec) -> None:
        web = Web(spec)
        self.homes = [web.home(index) for index in range(spec.sites)]
        self.answers: dict[str, Fetched] = {}
        for index in range(spec.sites):
            for url, body in site_files(web, index):
                kind = "application/xml" if url.endswith(".xml") else "text/plain"
                self.answers[url] = _fetched(url, body, kind)
            for url, body in site_pages(web, index):
                self.answers[url] = _fetched(url, body, "text/html; charset=utf-8", b"gzip")

    def pages(self) -> list[Fetched]:
        return [it for it in self.answers.values() if is_page(it)]


def is_page(fetched: Fetched) -> bool:
    return bool(fetched.header(b"content-encoding"))


def crawl(scene: Scene, counting: AbstractContextManager[object] | None = None) -> int:
    """Crawl it from an empty directory to the end; how many pages that were.

    `counting` is around all that grows with their number, from the first lease to the last file.
    """
    with TemporaryDirectory() as directory, VirtualRunner() as runner:
        config = build(
            {
                "email": "bench@example.org",
                "data_dir": Path(directory),
                "delay": 0.0,
                "address_delay": 0.0,
                "max_workers": WORKERS,
            }
        )
        return runner.run(_crawl(scene, config, runner.clock, counting or nullcontext()))


async def _crawl(
    scene: Scene, config: Config, clock: VirtualClock, counting: AbstractContextManager[object]
) -> int:
    world = World(clock, InlineExecutor(), InlineExecutor(), random.Random(0))
    site_key = assemble.make_site_key(config)
    async with assemble.make_frontier(config, world) as frontier:
        await frontier.add([_seed(home, site_key) for home in scene.homes])
        await frontier.create({"delay_s": "0"})
        writer = await frontier.enlist("replay")
        store = JournalStore(config.crawl.data_dir, writer, clock=clock)
        transport = Kept(scene, clock)
        crawler = assemble.make_crawler(
            config,
            world,
            frontier=frontier,
            transport=transport,
            store=store,
            writer=writer,
            site_key=site_key,
            exclusions=Exclusions(),
            workers=config.fetch.max_workers,
            tally=Tally(clock.now()),
        )
        with counting:
            await crawler.run()
            store.close()
    return transport.pages


class Kept:
    """A transport that answers from memory."""

    def __init__(self, scene: Scene, clock: Clock) -> None:
        self._scene = scene
        self.clock = clock
        self.pages = 0
        """So many were handed out: neither robots.txt nor sitemaps."""

    def open(self, origin: str, admit: Admit = anywhere) -> "KeptChannel":
        return KeptChannel(self, admit)

    async def aclose(self) -> None:
        """Nothing is ever left open."""

    def answer(self, url: str) -> Fetched:
        found = self._scene.answers.get(url)
        if found is None:
            return Fetched(url, status=404, address=ADDRESS)
        self.pages += is_page(found)
        return found


class KeptChannel:
    def __init__(self, kept: Kept, admit: Admit) -> None:
        self._kept = kept
        self._admit = admit

    async def get(
        self, url: str, *, deadline_at: float, start_by_at: float, body_limit: int
    ) -> Fetched:
        clock = self._kept.clock
        self._admit(ADDRESS)
        started_at = clock.now()
        await asyncio.sleep(LATENCY_S)
        return replace(self._kept.answer(url), started_at=started_at, ended_at=clock.now())

    def close(self) -> None:
        """There is no connection."""


def reference(fetched: Fetched) -> int:
    """What a bare loop does with a page. Never to be changed: the baseline is a ratio to it."""
    body = isal_zlib.decompress(fetched.body, GZIP)
    tree = LexborHTMLParser(body)
    base = can_ada.parse(fetched.url)
    found: dict[str, int] = {}
    for node in tree.css("a[href]"):
        href = node.attributes["href"] or ""
        url = (base + href).href
        found[url] = xxh3_64_intdigest(url.encode())
    text = tree.body.text() if tree.body is not None else ""
    return len(text.split()) + len(found)


def _fetched(url: str, body: bytes, kind: str, encoding: bytes = b"") -> Fetched:
    headers = [(b"Server", b"nginx"), (b"Content-Type", kind.encode())]
    headers.append((b"Content-Length", str(len(body)).encode()))
    if encoding:
        headers.append((b"Content-Encoding", encoding))
    return Fetched(url, status=200, headers=headers, body=body, address=ADDRESS)


def _seed(home: str, site_key: SiteKey) -> NewUrl:
    site = site_key.site_of(host_of(home))
    return NewUrl(site, url_hash(home), home, 0, Priority.SEED, Source.SEED, 0)
