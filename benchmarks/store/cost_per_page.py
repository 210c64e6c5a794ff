"""What the store costs per page: CPU (encode, write, fsync, roll) and bytes, against plain zstd.

    python benchmarks/store/cost_per_page.py [--pages 20000] [--batch 1000] [--keep links,warc]

The texts are word chains over the manual that comes with Python: real words in a plausible order,
about 10 kB a page, no two alike; each has a description and ten headings too. One JSON line is
printed. `zstd3_*` is `zstandard` at level 3 over the same texts: all of them as one stream, and
each for itself. CPU is user + system of the whole process; `journal` is `write` and `settle`,
`roll` is everything into Parquet. With `--keep links` each page has 72 links, with `--keep warc`
its exchange: HTML six times as long as its text, received with gzip (`--plain`: without). A row in
`requests` goes with every page, as in a crawl.
"""

import argparse
import gzip
import json
import random
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics

import zstandard

from mannerly.clock import SystemClock
from mannerly.evidence import RequestRecord
from mannerly.records import Exchange, FetchRecord, LinkRecord, PageRecord
from mannerly.store import JournalStore, Rows
from mannerly.store.contract import Record

_TEXT_CHARS = 10_000
_LINKS = 72
_REQUEST = (
    b"GET /some/page/of/the/site.html HTTP/1.1\r\nHost: www.site-4711.example\r\nUser-Agent: "
    b"mannerly/0.1.0 (+mailto:crawler@example.org)\r\nFrom: crawler@example.org\r\nAccept: "
    b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    b"Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n\r\n"
)


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


def make_records(
    texts: list[str], rng: random.Random
) -> tuple[list[FetchRecord], list[PageRecord]]:
    fetches, pages = [], []
    for index, text in enumerate(texts):
        site = f"site-{rng.randrange(5_000)}.example"
        url = f"https://www.{site}/{'/'.join(text.split()[:3])}/{index}"
        token, hash_ = rng.getrandbits(63), rng.getrandbits(63)
        at, took_s = 1.8e9 + index / 100, rng.random()
        fetches.append(
            FetchRecord(
                token, url, hash_, site, "fetched", 200, at, took_s, len(text) * 2, "text/html",
                "", 3, 1, rng.getrandbits(63), f"192.0.2.{rng.randrange(256)}", "",
            )
        )  # fmt: skip
        pages.append(
            PageRecord(
                token, url, hash_, site, at, 200, "text/html; charset=utf-8", "utf-8", text[:60],
                text, "en", 72, len(text) * 6, len(text) * 2, False, 3, rng.getrandbits(63),
                rng.getrandbits(63), took_s, "Fri, 15 Jan 2027 08:00:00 GMT",
                f'"{rng.getrandbits(64):x}"', "max-age=3600, public", "nginx/1.22.1", "en",
                f"192.0.2.{rng.randrange(256)}", rng.random(), rng.random(), rng.random(),
                "TLSv1.3", "TLS_AES_256_GCM_SHA384", "not checked", rng.randrange(5_000), 7,
                description=text[:150], canonical=url,
                open_graph=(("title", text[:60]), ("type", "article"), ("url", url)),
                headings=tuple((1 + n % 3, text[n : n + 40]) for n in range(0, 400, 40)),
            )
        )  # fmt: skip
    return fetches, pages


def make_request(page: PageRecord) -> RequestRecord:
    return RequestRecord(
        token=page.token, writer=1, visit=page.url_hash, site=page.site,
        origin=f"https://www.{page.site}", kind="page", url=page.url, sent_at=page.fetched_at,
        ended_at=page.fetched_at + page.duration_s, status=200, failure="", address=page.address,
        rest_s=70.0, delay_s=70.0, why="delay", robots_state="", robots_hash=page.robots_hash,
        robots_fetched_at=page.fetched_at - 1, robots_line=7, body=b"",
    )  # fmt: skip


def make_links(page: PageRecord, words: list[str], rng: random.Random) -> LinkRecord:
    sites = [f"site-{rng.randrange(5_000)}.example" for _ in range(_LINKS)]
    targets = [f"https://www.{site}/{rng.choice(words)}/{rng.getrandbits(32)}" for site in sites]
    return LinkRecord(
        page.token, page.url, page.url_hash, page.site, targets,
        [rng.getrandbits(63) for _ in targets], sites,
        [" ".join(rng.choices(words, k=3)) for _ in targets], [""] * _LINKS, ["a"] * _LINKS,
        list(range(_LINKS)),
    )  # fmt: skip


def make_exchange(page: PageRecord, *, plain: bool) -> Exchange:
    # A sixth is text, the rest the markup that pages have around it: varied, but repetitive.
    words = page.text.split(" ")
    pairs = zip(words[::2], words[1::2], strict=False)
    marked = (
        f'<div class="c{n % 37} col-{n % 12}" id="e{n}"><span data-x="{len(one)}">{one} {two}'
        for n, (one, two) in enumerate(pairs)
    )
    html = "</span></div>\n".join(marked).encode()
    body = html if plain else gzip.compress(html, 6)
    headers = [
        (b"Server", b"nginx/1.22.1"), (b"Date", b"Fri, 15 Jan 2027 08:00:00 GMT"),
        (b"Content-Type", b"text/html; charset=utf-8"), (b"Transfer-Encoding", b"chunked"),
        (b"Connection", b"keep-alive"), (b"Vary", b"Accept-Encoding"),
        (b"ETag", page.etag.encode()),
        (b"Content-Encoding", b"identity" if plain else b"gzip"),
    ]  # fmt: skip
    return Exchange(
        page.token, page.url, page.fetched_at, page.address, _REQUEST, b"1.1", 200, b"OK", headers,
        body, False, (("depth", "3"), ("fetchTimeMs", "312"), ("tls", page.tls_cipher)),
    )  # fmt: skip


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())


def cpu_ms() -> float:
    return time.process_time() * 1e3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--pages", type=int, default=15_000)
    options.add_argument("--batch", type=int, default=1_000, help="pages per checkpoint")
    options.add_argument("--keep", default="", help="links, warc or both, separated by commas")
    options.add_argument("--plain", action="store_true", help="bodies are received uncompressed")
    args = options.parse_args()
    keep = set(filter(None, args.keep.split(",")))
    rng = random.Random(1)
    follows = followers()
    before_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    journal_ms = roll_ms = wall_s = 0.0
    text_bytes = stream_bytes = single_bytes = wire_bytes = 0
    stream = zstandard.ZstdCompressor(level=3).compressobj()
    single = zstandard.ZstdCompressor(level=3)
    with tempfile.TemporaryDirectory() as directory:
        data_dir = Path(directory)
        store = JournalStore(data_dir, 1, clock=SystemClock())
        for sequence in range(1, args.pages // args.batch + 1):
            texts = [make_text(follows, rng) for _ in range(args.batch)]
            fetches, pages = make_records(texts, rng)
            kept: list[Sequence[Record]] = [fetches, pages, [make_request(page) for page in pages]]
            if "links" in keep:
                kept.append([make_links(page, page.text.split()[:200], rng) for page in pages])
            if "warc" in keep:
                exchanges = [make_exchange(page, plain=args.plain) for page in pages]
                wire_bytes += sum(len(exchange.body) for exchange in exchanges)
                kept.append(exchanges)
            rows = Rows(*kept)
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
        stored = _size(data_dir / "pages") + _size(data_dir / "fetches")
        beside = {name: round(_size(data_dir / name) / args.pages) for name in sorted(keep)}
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    count = args.pages
    result = {
        "pages": count,
        "batch": args.batch,
        "keep": sorted(keep),
        "text_bytes_per_page": round(text_bytes / count),
        "cpu_ms_per_page": round((journal_ms + roll_ms) / count, 4),
        "journal_ms_per_page": round(journal_ms / count, 4),
        "roll_ms_per_page": round(roll_ms / count, 4),
        "wall_ms_per_page": round(wall_s * 1e3 / count, 4),
        "parquet_bytes_per_page": round(stored / count),
        "zstd3_stream_bytes_per_page": round(stream_bytes / count),
        "zstd3_single_bytes_per_page": round(single_bytes / count),
        "kept_bytes_per_page": beside,
        "wire_bytes_per_page": round(wire_bytes / count),
        "ratio_to_stream": round(stored / stream_bytes, 3),
        "ratio_to_single": round(stored / single_bytes, 3),
        "peak_rss_mib": round(peak_mib),
        "rss_before_mib": round(before_mib),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
