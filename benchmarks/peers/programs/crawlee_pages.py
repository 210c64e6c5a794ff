"""Crawlee's cheapest crawler, with its own links and its storage in memory.

Runs in an environment of its own, where there is no Mannerly: `python -m benchmarks.peers`.
"""

import argparse
import asyncio
import logging
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

WORKERS = 100


async def crawl(seeds: list[str]) -> None:
    crawler = ParselCrawler(
        respect_robots_txt_file=True,
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=WORKERS, max_concurrency=WORKERS, desired_concurrency=WORKERS
        ),
        max_request_retries=0,
        use_session_pool=False,
        configure_logging=False,
    )

    async def follow(context: ParselCrawlingContext) -> None:
        await context.enqueue_links(strategy="all")

    crawler.router.default_handler(follow)
    await crawler.run(seeds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=Path, required=True)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    asyncio.run(crawl(options.seeds.read_text().split()))


if __name__ == "__main__":
    main()
