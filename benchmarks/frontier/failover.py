"""What does a crawl in a Redis Cluster lose when a master is killed, and how long does it stand?

    python -m benchmarks redis-failover

For each setting of the log: a Cluster of three masters and three replicas on this machine, a
process that commits as fast as it can, and kill -9 of the master that has the crawl as a whole and
about a third of its buckets. `lost` are commits that were acknowledged and are not known to the
promoted replica. Seconds after the kill: `others_lease_after_s` until a site of another master is
leased, `away_s` until all verbs are answered again, `leases_after_s` until a site of that master is
leased.
"""

import argparse
import asyncio
import json
import random
import threading
import time
from typing import Any

from tests.services.redis_cluster import RedisCluster

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.errors import FrontierError
from mannerly.frontier.conformance.shapes import Worker, released, settled, url
from mannerly.frontier.redis import RedisFrontier, TimeOuts
from mannerly.frontier.redis.cluster import CRAWL
from mannerly.frontier.redis.packing import BUCKETS, bucket_of

SETTINGS = {
    "always": {"appendfsync": "always"},
    "everysec": {"appendfsync": "everysec"},
    "no": {"appendfsync": "no"},
    "no log": {"appendonly": "no"},
}
TTL_S = 5.0
NODE_TIMEOUT_MS = "5000"
"""As docs/redis.md recommends."""
LOAD_S = 5.0
GIVE_UP_S = 120.0
NAME = "failover"


async def measured(cluster: RedisCluster) -> dict[str, Any]:
    frontier = RedisFrontier(
        cluster.url,
        schema=NAME,
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.Random(),
        time_outs=TimeOuts(connect_s=2, answer_s=5),
    )
    async with frontier:
        await frontier.add([url(f"s{number % 200}.example", number) for number in range(20_000)])
        worker = await Worker.enlist(frontier)
        masters = cluster.masters_of(NAME)
        gone = {part for part, master in masters.items() if master is masters[CRAWL]}
        acknowledged, killed_at = await _under_load(worker, cluster)
        await _leased(worker, set(range(BUCKETS)) - gone, killed_at)
        others_lease_after_s = time.monotonic() - killed_at
        while (state := await _state(worker)) is None:
            assert time.monotonic() < killed_at + GIVE_UP_S
            await asyncio.sleep(0.05)
        away_s = time.monotonic() - killed_at
        again = await Worker.enlist(frontier)
        await _leased(again, gone, killed_at)
        leases_after_s = time.monotonic() - killed_at
    return {
        "commits": acknowledged,
        "lost": max(0, acknowledged - state),
        "others_lease_after_s": round(others_lease_after_s, 1),
        "away_s": round(away_s, 1),
        "leases_after_s": round(leases_after_s, 1),
    }


async def _leased(worker: Worker, buckets: set[int], killed_at: float) -> None:
    """Lease until a site of these buckets is among them."""
    while True:
        assert time.monotonic() < killed_at + GIVE_UP_S
        try:
            leases = await worker.lease(200, ttl_s=TTL_S)
        except FrontierError:
            leases = []
        if any(bucket_of(it.site) in buckets for it in leases):
            return
        await asyncio.sleep(0.05)


async def _under_load(worker: Worker, cluster: RedisCluster) -> tuple[int, float]:
    """Commit until the master is killed; how many commits were acknowledged, and when that was."""
    master = cluster.master_of(NAME)
    killed: list[float] = []

    def kill() -> None:
        killed.append(time.monotonic())
        master.kill()

    killer = threading.Timer(LOAD_S, kill)
    killer.start()
    acknowledged = 0
    try:
        while True:
            parts = [
                part
                for lease in await worker.lease(10, ttl_s=TTL_S)
                for part in (settled(lease), released(lease, 0))
            ]
            await worker.commit(*parts)
            acknowledged = worker.sequence
    except FrontierError:
        killer.join()
        return acknowledged, killed[0]


async def _state(worker: Worker) -> int | None:
    """The last commit that is known; None while nobody answers."""
    try:
        state = await worker.frontier.writer_state(worker.writer)
    except FrontierError:
        return None
    return state.sequence if state is not None else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    times: int = parser.parse_args().times
    figures: dict[str, Any] = {"node_timeout_ms": int(NODE_TIMEOUT_MS), "ttl_s": TTL_S}
    for name, settings in SETTINGS.items():
        figures[name] = []
        for _ in range(times):
            with RedisCluster(**settings, cluster_node_timeout=NODE_TIMEOUT_MS) as cluster:
                figures[name].append(asyncio.run(measured(cluster)))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
