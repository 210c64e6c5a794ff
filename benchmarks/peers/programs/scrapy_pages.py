"""Scrapy as its page on broad crawls says, with links by XPath or by its LinkExtractor.

Runs in an environment of its own, where there is no Mannerly: `python -m benchmarks.peers`.
"""

import argparse
from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer

SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "CONCURRENT_REQUESTS": 100,
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "LOG_LEVEL": "ERROR",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "DOWNLOAD_TIMEOUT": 15,
    "DOWNLOAD_DELAY": 0,
    "TELNETCONSOLE_ENABLED": False,
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "DNS_RESOLVER": "scrapy_pages.OneAddress",
}


class OneAddress(CachingThreadedResolver):  # type: ignore[misc]  # Scrapy is not there for mypy
    """Every name is at the same place."""

    address = ""

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802 - Twisted's name
        return defer.succeed(OneAddress.address)


class Pages(scrapy.Spider):  # type: ignore[misc]
    name = "pages"

    def __init__(self, seeds: list[str], links: str) -> None:
        super().__init__()
        self._seeds = seeds
        self._seen = set(seeds)
        self._extractor = LinkExtractor() if links == "extractor" else None

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Unlike `start_urls`, these are known again when they are met as links."""
        for seed in self._seeds:
            yield scrapy.Request(seed)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        if self._extractor is not None:
            for link in self._extractor.extract_links(response):
                yield scrapy.Request(link.url)
            return
        # Most links were met before; to make a request of each for Scrapy's own filter costs twice
        # as much as all the rest.
        for href in response.xpath("//a/@href").getall():
            url = response.urljoin(href)
            if url not in self._seen and url.startswith("http"):
                self._seen.add(url)
                yield scrapy.Request(url)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", choices=("xpath", "extractor"), required=True)
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("--address", required=True)
    options = parser.parse_args()
    # Scrapy imports this file once more, to find the class by its name.
    import_module("scrapy_pages").OneAddress.address = options.address
    process = CrawlerProcess(SETTINGS)
    process.crawl(Pages, seeds=options.seeds.read_text().split(), links=options.links)
    process.start()


if __name__ == "__main__":
    main()
