"""What the store costs per page: CPU (encode, write, fsync, roll) and bytes, against plain zstd.

    python benchmarks/store/cost_per_page.py [--pages 20000] [--batch 1000] [--plain]

The texts are word chains over the manual that comes with Python: real words in a plausible order,
about 10 kB a page, no two alike. One JSON line is printed. `zstd3_*` is `zstandard` at level 3 over
the same texts: all of them as one stream, and each for itself. CPU is user + system of the whole
process; `journal` is `write` and `settle`, `roll` is everything into Parquet. Each page comes with
the record of its request, every tenth with that of a robots.txt; `--plain` leaves those out.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics

import zstandard

from mannerly.clock import SystemClock
from mannerly.evidence import RequestRecord
from mannerly.model import FetchRecord, PageRecord
from mannerly.store import JournalStore, Rows

_TEXT_CHARS = 10_000
ROBOTS_EVERY = 10
"""Pages for which a robots.txt is read once."""
ROBOTS_BYTES = 1_000


def followers() -> dict[str, list[str]]:
    """For each word of the manual, the words that follow it somewhere."""
    words = [word for text in topics.values() for word in text.split(" ") if word]
    follows: dict[str, list[str]] = defaultdict(list)
    for first, second in pairwise([*words, words[0]]):
        follows[first].append(second)
    return follows


def make_text(follows: dict[str, list[str]], rng: random.Random) -> str:
    # Sizes as on the web: many small pages, some large ones; 10 kB in the mean.
    wanted = min(rng.expovariate(1 / _TEXT_CHARS), 20 * _TEXT_CHARS)
    word, chain, size = "The", ["The"], 3
    while size < wanted:
        word = rng.choice(follows[word])
        chain.append(word)
        size += len(word) + 1
    return " ".join(chain)


def make_records(texts: list[str], rng: random.Random, *, plain: bool) -> Rows:
    rows = Rows()
    for index, text in enumerate(texts):
        site = f"site-{rng.randrange(5_000)}.example"
        url = f"https://www.{site}/{'/'.join(text.split()[:3])}/{index}"
        token, hash_ = rng.getrandbits(63), rng.getrandbits(63)
        at, took_s = 1.8e9 + index / 100, rng.random()
        address = f"192.0.2.{rng.randrange(256)}"
        rows.add(
            FetchRecord(
                token, url, hash_, site, "fetched", 200, at, took_s, len(text) * 2, "text/html",
                "", 3, 1, rng.getrandbits(63), address, "",
            )
        )  # fmt: skip
        rows.add(
            PageRecord(
                token, url, hash_, site, at, 200, "text/html; charset=utf-8", "utf-8", text[:60],
                text, "en", 72, len(text) * 6, len(text) * 2, False, 3, rng.getrandbits(63),
                rng.getrandbits(63), took_s,
            )
        )  # fmt: skip
        if plain:
            continue
        page = RequestRecord(
            token, 1, index, site, f"https://www.{site}", "page", url, at, at + took_s, 200, "",
            address, 70.05, 70.05, "delay", "", hash(site), 1.8e9, 0, b"",
        )  # fmt: skip
        rows.add(page)
        if index % ROBOTS_EVERY == 0:
            rules = text[:ROBOTS_BYTES].encode()
            robots = page._replace(kind="robots", robots_state="found", body=rules)
            rows.add(robots)
    return rows


def cpu_ms() -> float:
    return time.process_time() * 1e3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--pages", type=int, default=15_000)
    options.add_argument("--batch", type=int, default=1_000, help="pages per checkpoint")
    options.add_argument("--plain", action="store_true", help="without the table of requests")
    args = options.parse_args()
    rng = random.Random(1)
    follows = followers()
    before_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    journal_ms = roll_ms = wall_s = 0.0
    text_bytes = stream_bytes = single_bytes = 0
    stream = zstandard.ZstdCompressor(level=3).compressobj()
    single = zstandard.ZstdCompressor(level=3)
    with tempfile.TemporaryDirectory() as directory:
        data_dir = Path(directory)
        store = JournalStore(data_dir, 1, clock=SystemClock())
        for sequence in range(1, args.pages // args.batch + 1):
            texts = [make_text(follows, rng) for _ in range(args.batch)]
            rows = make_records(texts, rng, plain=args.plain)
            for text in texts:
                raw = text.encode()
                text_bytes += len(raw)
                stream_bytes += len(stream.compress(raw))
                single_bytes += len(single.compress(raw))
            start_ms, start_at = cpu_ms(), time.monotonic()
            store.write(sequence, rows)
            store.settle(sequence, [])
            middle_ms = cpu_ms()
            store.roll()
            roll_ms += cpu_ms() - middle_ms
            journal_ms += middle_ms - start_ms
            wall_s += time.monotonic() - start_at
        stream_bytes += len(stream.flush())
        start_ms, start_at = cpu_ms(), time.monotonic()
        store.close()
        roll_ms += cpu_ms() - start_ms
        wall_s += time.monotonic() - start_at
        stored = sum(path.stat().st_size for path in data_dir.rglob("*.parquet"))
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    count = args.pages
    result = {
        "pages": count,
        "batch": args.batch,
        "requests_table": not args.plain,
        "text_bytes_per_page": round(text_bytes / count),
        "cpu_ms_per_page": round((journal_ms + roll_ms) / count, 4),
        "journal_ms_per_page": round(journal_ms / count, 4),
        "roll_ms_per_page": round(roll_ms / count, 4),
        "wall_ms_per_page": round(wall_s * 1e3 / count, 4),
        "parquet_bytes_per_page": round(stored / count),
        "zstd3_stream_bytes_per_page": round(stream_bytes / count),
        "zstd3_single_bytes_per_page": round(single_bytes / count),
        "ratio_to_stream": round(stored / stream_bytes, 3),
        "ratio_to_single": round(stored / single_bytes, 3),
        "peak_rss_mib": round(peak_mib),
        "rss_before_mib": round(before_mib),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
