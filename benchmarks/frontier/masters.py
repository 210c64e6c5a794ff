"""How is the work of one crawl shared by the masters of a Redis Cluster? Prints one JSON line.

    python -m benchmarks redis-masters

The same crawl on one server, in a Cluster of one master and in one of three, without replicas, all
on this machine: sites are leased and committed batch by batch. CPU of the crawling process and of
each server, in microseconds a page. `pages_a_second` is what one process reaches with all of them
on these cores, and so says little of machines of their own; `busiest_us` does: what the server that
has most to do needs for a page. Of several rounds the cheapest counts.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.services.redis import RedisServer
from tests.services.redis_cluster import RedisCluster

from benchmarks.frontier.cost import own_cpu_s
from benchmarks.frontier.engines import CAPS, cpu_s_of
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.conformance.shapes import Worker, released, settled, url
from mannerly.frontier.redis import RedisFrontier
from mannerly.units import size

PLACES = {"server": 0, "1 master": 1, "3 masters": 3}
BATCHES = (500, 50)
SETTINGS = {"appendfsync": "everysec", "auto_aof_rewrite_percentage": "0"}


@contextmanager
def servers(masters: int) -> Iterator[tuple[str, list[RedisServer]]]:
    if masters:
        with RedisCluster(masters, 0, **SETTINGS) as cluster:
            yield cluster.url, cluster.nodes
    else:
        with RedisServer(**SETTINGS) as server:
            yield server.url, [server]


async def measured(masters: int, sites: int, pages: int) -> dict[str, Any]:
    with servers(masters) as (address, nodes):
        async with RedisFrontier(
            address,
            clock=SystemClock(),
            executor=InlineExecutor(),
            random=random.Random(1),
            caps=CAPS,
        ) as frontier:
            await frontier.create({})
            worker = await Worker.enlist(frontier)
            for number in range(len(BATCHES)):
                for start in range(0, sites, 10_000):
                    some = range(start, min(sites, start + 10_000))
                    await frontier.add([url(f"s{it}.example", number) for it in some])
            return {f"batches of {it}": await visited(worker, nodes, it, pages) for it in BATCHES}


async def visited(
    worker: Worker, nodes: list[RedisServer], batch: int, pages: int
) -> dict[str, Any]:
    pids = [node.pid for node in nodes]
    before, own_s, begun_at = [cpu_s_of(pid) for pid in pids], own_cpu_s(), time.perf_counter()
    done = 0
    while done < pages:
        leases = await worker.lease(batch, ttl_s=600)
        parts = [part for it in leases for part in (settled(it), released(it, 600))]
        assert not await worker.commit(*parts)
        assert len(leases) == batch
        done += batch
    took_s, own_s = time.perf_counter() - begun_at, own_cpu_s() - own_s
    each_s = [cpu_s_of(pid) - was for pid, was in zip(pids, before, strict=True)]
    us = 1e6 / done
    return {
        "pages": done,
        "client_us": round(own_s * us, 1),
        "servers_us": [round(it * us, 1) for it in each_s],
        "busiest_us": round(max(each_s) * us, 1),
        "all_us": round((own_s + sum(each_s)) * us, 1),
        "pages_a_second": round(done / took_s),
    }


def main(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks redis-masters")
    parser.add_argument("--sites", type=size, default=50_000)
    parser.add_argument("--pages", type=size, default=20_000, help="of each size of batches")
    parser.add_argument("--rounds", type=int, default=3, help="the best of them counts")
    options = parser.parse_args(arguments)
    figures: dict[str, Any] = {"sites": options.sites, "rounds": options.rounds}
    for name, masters in list(PLACES.items()) * options.rounds:
        found = asyncio.run(measured(masters, options.sites, options.pages))
        print(name, json.dumps(found), file=sys.stderr)
        best = figures.setdefault(name, found)
        figures[name] = {
            it: min(best[it], found[it], key=lambda cost: cost["all_us"]) for it in found
        }
    return figures


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
