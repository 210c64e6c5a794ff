"""aiohttp and selectolax in a loop: fetch, parse, follow links. No robots.txt, no frontier on disk,
no store, no text: what the libraries cost, and nothing else.

Runs in an environment of its own, where there is no Mannerly: `python -m benchmarks.peers`.
"""

import argparse
import asyncio
import socket
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import aiohttp
import uvloop
from aiohttp.abc import AbstractResolver, ResolveResult
from selectolax.lexbor import LexborHTMLParser

WORKERS = 100


class OneAddress(AbstractResolver):  # type: ignore[misc]  # aiohttp is not there for mypy
    """Every name is at the same place."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        place = {"hostname": host, "host": self._address, "port": port}
        return [{**place, "family": socket.AF_INET, "proto": 0, "flags": socket.AI_NUMERICHOST}]

    async def close(self) -> None:
        """Nothing is open."""


async def crawl(seeds: list[str], address: str) -> None:
    seen = set(seeds)
    waiting: asyncio.Queue[str] = asyncio.Queue()
    for seed in seeds:
        waiting.put_nowait(seed)

    async def work() -> None:
        while True:
            url = await waiting.get()
            try:
                async with session.get(url) as response:
                    body = await response.read()
                if response.status == 200:
                    follow(url, body)
            except aiohttp.ClientError:
                pass
            finally:
                waiting.task_done()

    def follow(url: str, body: bytes) -> None:
        for node in LexborHTMLParser(body).css("a[href]"):
            target, _ = urldefrag(urljoin(url, node.attributes["href"] or ""))
            if target not in seen and target.startswith("http"):
                seen.add(target)
                waiting.put_nowait(target)

    connector = aiohttp.TCPConnector(limit=WORKERS, resolver=OneAddress(address))
    async with aiohttp.ClientSession(connector=connector) as session:
        workers = [asyncio.create_task(work()) for _ in range(WORKERS)]
        await waiting.join()
        for worker in workers:
            worker.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("--address", required=True)
    options = parser.parse_args()
    uvloop.run(crawl(options.seeds.read_text().split(), options.address))


if __name__ == "__main__":
    main()
