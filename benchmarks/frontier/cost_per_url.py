"""What does the frontier cost per URL? Prints one JSON line.

    python benchmarks/frontier/cost_per_url.py --sites 100000 --urls 1000000

Adds URLs of random sites in batches, as links arrive; then leases batches of ready sites and
settles and releases them, as a crawl does. Figures are microseconds of CPU (user + system) of the
whole process per URL, and wall time beside them; `lease_commit_us` is a lease, a settled URL and a
release. The last tenth of the adding is shown on its own, because it meets the fullest tables.
"""

import argparse
import asyncio
import json
import random
import resource
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit, NewUrl, Outcome, Priority, Released, Settled, Source

DIGITS = 3


@dataclass
class Cost:
    """CPU and wall time spent inside `with` blocks."""

    cpu_s: float = 0.0
    wall_s: float = 0.0
    longest_s: float = 0.0
    _start: tuple[float, float] = field(default=(0.0, 0.0))

    def __enter__(self) -> None:
        self._start = (_cpu_s(), time.perf_counter())

    def __exit__(self, *_: object) -> None:
        cpu_s, wall_s = self._start
        took_s = time.perf_counter() - wall_s
        self.cpu_s += _cpu_s() - cpu_s
        self.wall_s += took_s
        self.longest_s = max(self.longest_s, took_s)

    def per(self, count: int) -> dict[str, float]:
        return {
            "cpu_us": round(self.cpu_s / count * 1e6, DIGITS),
            "wall_us": round(self.wall_s / count * 1e6, DIGITS),
            "longest_call_ms": round(self.longest_s * 1e3, DIGITS),
        }


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _batch(chance: random.Random, sites: int, count: int) -> list[NewUrl]:
    urls = []
    for _ in range(count):
        site = f"site-{chance.randrange(sites)}.example"
        url = f"https://www.{site}/section/{chance.getrandbits(40):x}/an-article-of-usual-length"
        hash_ = xxhash.xxh3_64_intdigest(url.encode()) - 2**63
        urls.append(NewUrl(site, hash_, url, 1, Priority.LINK, Source.LINK, chance.getrandbits(63)))
    return urls


async def measure(options: argparse.Namespace, path: Path) -> dict[str, object]:
    chance = random.Random(options.seed)
    frontier = SqliteFrontier(
        path,
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.Random(options.seed),
        synchronous=options.synchronous,
    )
    adding, last_adding, known, leasing, committing = Cost(), Cost(), Cost(), Cost(), Cost()
    added = last_added = pages = 0
    async with frontier:
        await frontier.create({"delay_s": "1"})
        writer = await frontier.enlist("benchmark")
        urls: list[NewUrl] = []
        while added < options.urls:
            urls = _batch(chance, options.sites, options.add_batch)
            late = added >= options.urls * 0.9
            with last_adding if late else adding:
                answer = await frontier.add(urls)
            added += answer.new
            last_added += answer.new if late else 0
        with known:
            await frontier.add(urls)
        for sequence in range(1, options.pages // options.lease_batch + 1):
            with leasing:
                leased = await frontier.lease(
                    writer, options.lease_batch, ttl_s=600, urls_per_site=1
                )
            commit = Commit(sequence)
            for lease in leased.leases:
                url = lease.urls[0]
                commit.settled.append(
                    Settled(
                        lease.handle, lease.token, url.priority, url.seq, url.hash, Outcome.FETCHED
                    )
                )
                commit.released.append(Released(lease.handle, lease.token, 0.0, 0, False))
            with committing:
                await frontier.commit(writer, commit)
            pages += len(leased.leases)
        counting = Cost()
        with counting:
            await frontier.stats()
    both = Cost(leasing.cpu_s + committing.cpu_s, leasing.wall_s + committing.wall_s)
    adding.cpu_s += last_adding.cpu_s
    adding.wall_s += last_adding.wall_s
    return {
        "question": "frontier cost per URL",
        "engine": "sqlite",
        "sites": options.sites,
        "urls": added,
        "pages": pages,
        "add_batch": options.add_batch,
        "lease_batch": options.lease_batch,
        "synchronous": options.synchronous,
        "add": adding.per(added),
        "add_last_tenth": last_adding.per(max(1, last_added)),
        "add_known": known.per(options.add_batch),
        "lease": leasing.per(pages),
        "commit": committing.per(pages),
        "lease_commit_us": both.per(pages)["cpu_us"],
        "stats_ms": round(counting.wall_s * 1e3, DIGITS),
        "file_bytes_per_url": round(path.stat().st_size / added),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=100_000)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--add-batch", type=int, default=20_000)
    parser.add_argument("--lease-batch", type=int, default=500)
    parser.add_argument("--synchronous", choices=["FULL", "NORMAL"], default="FULL")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="where the file is made; default: /tmp")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        print(json.dumps(asyncio.run(measure(options, Path(folder) / "frontier.db"))))


if __name__ == "__main__":
    main()
