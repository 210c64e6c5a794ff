"""What does a request cost? CPU of the client per request, and memory per slow connection.

    python -m benchmarks.fetch.cost_per_request [--requests 4000] [--rounds 5] [--slow 2000]

One page of 60 kB (about 16 kB as gzip) from a server in a process of its own, on the loopback, 200
connections. Three clients by turns: our transport alone (no DNS, no parsing; `decode` is the
gunzip, for the sum), the bare library (`bare.py`), and wrk. User and system time, the best of the
rounds: a shared machine only ever adds. One JSON line.
"""

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.fetch import bare, wrk
from benchmarks.fetch.server import PATH, SLOW_PATH, page, serving
from mannerly.clock import SystemClock
from mannerly.fetch import tls
from mannerly.fetch.contract import Channel, Fetched
from mannerly.fetch.decode import decode
from mannerly.fetch.dns import Resolved
from mannerly.fetch.http import HttpTransport

TASKS = 200
WRK_S = 2
MODES = {  # name: (scheme, a new connection for each request)
    "plain_new": ("http", True),
    "plain_reuse": ("http", False),
    "tls_new": ("https", True),
    "tls_reuse": ("https", False),
}


class NoResolver:
    async def resolve(self, host: str) -> Resolved:
        raise AssertionError(host)


def transport_to(port: int) -> HttpTransport:
    return HttpTransport(
        clock=SystemClock(),
        user_agent="mannerly-benchmark/1",
        contact="nobody@example.org",
        resolver=NoResolver(),
        connect_to=("127.0.0.1", port),
        connect_timeout_s=60,
    )


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def get(channel: Channel, origin: str, path: str = PATH, limit_s: float = 60) -> Fetched:
    end_at = SystemClock().now() + limit_s
    return await channel.get(
        origin + path, deadline_at=end_at, start_by_at=end_at, body_limit=1_000_000
    )


async def ours_ms(port: int, scheme: str, new: bool, requests: int) -> float:
    """CPU in ms per request."""
    transport = transport_to(port)
    origin = f"{scheme}://site.example"
    channels = [transport.open(origin) for _ in range(TASKS)]
    if not new:
        await asyncio.gather(*(get(channel, origin) for channel in channels))
    left = requests

    async def work(channel: Channel) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            fetched = await get(channel, origin)
            assert fetched.failure is None, fetched.detail
            assert fetched.reused is not new
            if new:
                channel.close()
                channel = transport.open(origin)

    before = cpu_s()
    await asyncio.gather(*(work(channel) for channel in channels))
    spent = cpu_s() - before
    await transport.aclose()
    return spent / requests * 1000


async def bare_ms(port: int, scheme: str, new: bool, requests: int) -> float:
    """CPU in ms per request of the library alone."""
    context = tls.context(verify=False) if scheme == "https" else None  # as ours
    left = requests
    kept = [] if new else [await bare.connected(port, context) for _ in range(TASKS)]

    async def work(number: int) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            connection = await bare.connected(port, context) if new else kept[number]
            assert await connection.ask()
            if new:
                connection.transport.abort()

    before = cpu_s()
    await asyncio.gather(*(work(number) for number in range(TASKS)))
    spent = cpu_s() - before
    for connection in kept:
        connection.transport.abort()
    return spent / requests * 1000


async def slow_bytes(port: int, scheme: str, _: bool, slow: int) -> float:
    """Resident bytes per connection that waits for the rest of a head."""
    transport = transport_to(port)
    origin = f"{scheme}://site.example"
    before = resident_bytes()
    gate = asyncio.Semaphore(TASKS)
    tasks = []
    for _number in range(slow):
        await gate.acquire()
        task = asyncio.create_task(get(transport.open(origin), origin, SLOW_PATH, 600))
        asyncio.get_running_loop().call_later(0.2, gate.release)
        tasks.append(task)
    while transport.open_connections < slow:  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(0.1)
    await asyncio.sleep(2)  # for the half heads of the last ones
    used = resident_bytes() - before
    await transport.aclose()
    await asyncio.gather(*tasks)
    return used / slow


Work = Callable[[int, str, bool, int], Coroutine[Any, Any, float]]


def in_process(work: Work, pipe: Pipe, port: int, scheme: str, amount: int, *, new: bool) -> None:
    """Each figure in a fresh process, so that none stands on the memory of another."""
    pipe.send(uvloop.run(work(port, scheme, new, amount)))


def run(work: Work, port: int, scheme: str, amount: int, *, new: bool = True) -> float:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=in_process, args=(work, theirs, port, scheme, amount), kwargs={"new": new}
    )
    process.start()
    theirs.close()
    result: float = ours.recv()
    process.join()
    return result


def compared(port: int, scheme: str, *, new: bool, requests: int, rounds: int) -> dict[str, float]:
    """The three clients by turns, so that the noise of an hour is the same for all."""
    spent: dict[str, list[float]] = {"ours": [], "bare": [], "wrk": []}
    for _ in range(rounds):
        spent["bare"].append(run(bare_ms, port, scheme, requests, new=new))
        spent["ours"].append(run(ours_ms, port, scheme, requests, new=new))
        spent["wrk"].append(wrk.measure_ms(port, scheme, new=new, connections=TASKS, seconds=WRK_S))
    best = {client: min(figures) for client, figures in spent.items()}
    ratios = {f"ours_to_{other}": best["ours"] / best[other] for other in ("bare", "wrk")}
    return {name: round(figure, 4) for name, figure in {**best, **ratios}.items()}


def decode_ms(body: bytes) -> float:
    rounds = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(500):
            decode(body, "gzip", 1_000_000)
        rounds.append((time.process_time() - before) / 500 * 1000)
    return min(rounds)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=4000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--slow", type=int, default=2000)
    chosen = options.parse_args()
    multiprocessing.set_start_method("spawn")
    with serving() as ports:
        cpu = {
            name: compared(
                ports[scheme], scheme, new=new, requests=chosen.requests, rounds=chosen.rounds
            )
            for name, (scheme, new) in MODES.items()
        }
        memory = {
            scheme: round(run(slow_bytes, ports[scheme], scheme, chosen.slow) / 1000, 1)
            for scheme in ("http", "https")
        }
    packed = gzip.compress(page(), 6)
    result = {
        "benchmark": "fetch/cost_per_request",
        "cpu_ms_per_request": cpu,
        "decode_ms": round(decode_ms(packed), 4),
        "kb_per_slow_connection": memory,
        "slow_connections": chosen.slow,
        "body_bytes": len(packed),
        "requests": chosen.requests,
        "rounds": chosen.rounds,
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
