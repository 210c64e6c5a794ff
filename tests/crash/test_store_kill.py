"""A process that writes, commits, settles and rolls is killed; what readers see stays exact.

The frontier's word is a file that is replaced atomically. Killed at random moments and, with a disk
that counts, right before (or halfway through) every single step of writing and of recovering.
"""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from mannerly.clock import SystemClock
from mannerly.records import Exchange, FetchRecord, LinkRecord, PageRecord
from mannerly.store import JournalStore, Rows, dead_writers, recover
from mannerly.store.disk import Buffer, Disk
from mannerly.store.read import open_store

SPAWN = multiprocessing.get_context("forkserver")
SPAWN.set_forkserver_preload(["mannerly.store", "pyarrow.parquet"])

GOOD, STALE = 1, 2


def fetched(url_hash: int, token: int) -> FetchRecord:
    return FetchRecord(
        token, f"https://a.test/{url_hash}", url_hash, "a.test", "fetched", 200, 1.8e9, 0.1, 9,
        "text/html", "", 0, 1, 0, "192.0.2.1", "",
    )  # fmt: skip


def stored(url_hash: int, token: int) -> PageRecord:
    text = f"{url_hash} " * 200
    return PageRecord(
        token, f"https://a.test/{url_hash}", url_hash, "a.test", 1.8e9, 200, "text/html", "utf-8",
        "title", text, "en", 1, 9, 9, False, 0, 0, 0, 0.1,
    )  # fmt: skip


def linked(url_hash: int, token: int) -> LinkRecord:
    return LinkRecord(
        token, f"https://a.test/{url_hash}", url_hash, "a.test", ["https://b.test/"], [5],
        ["b.test"], ["words"], [""], ["a"], [0],
    )  # fmt: skip


def exchanged(url_hash: int, token: int) -> Exchange:
    return Exchange(
        token, f"https://a.test/{url_hash}", 1.8e9, "192.0.2.1", b"GET / HTTP/1.1\r\n\r\n", b"1.1",
        200, b"OK", [(b"Content-Type", b"text/html")], b"%d " % url_hash * 200, False, (),
    )  # fmt: skip


class KillingDisk(Disk):
    """Kills its process at step number `at`; in an append, halfway through."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.steps = 0

    def __getattribute__(self, name: str) -> Any:
        if name in Disk.__dict__ and not name.startswith("_"):
            self.steps += 1
            if self.steps == self.at:
                return self._half if name == "append" else _die
        return super().__getattribute__(name)

    def _half(self, fd: int, *pieces: Buffer) -> None:
        data = b"".join(pieces)
        os.write(fd, data[: len(data) // 2])
        _die()


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def word_of(data_dir: Path, writer: int) -> tuple[int, frozenset[int]]:
    path = data_dir / f"frontier-{writer}.json"
    if not path.exists():
        return 0, frozenset()
    sequence, refused = json.loads(path.read_text())
    return sequence, frozenset(refused)


def crawl(data_dir: Path, writer: int, base: int, checkpoints: int, kill_at: int) -> None:
    """Checkpoint n of a writer has the rows base + n, which counts, and its negative, which is
    refused in every checkpoint but each third."""
    store = JournalStore(
        data_dir, writer, clock=SystemClock(), segment_bytes=20_000, disk=KillingDisk(kill_at)
    )
    for sequence in range(1, checkpoints + 1):
        good, stale = base + sequence, -(base + sequence)
        store.write(
            sequence,
            Rows(
                [fetched(good, GOOD), fetched(stale, STALE)],
                [stored(good, GOOD), stored(stale, STALE)],
                [linked(good, GOOD), linked(stale, STALE)],
                [exchanged(good, GOOD), exchanged(stale, STALE)],
            ),
        )
        refused = [] if sequence % 3 == 0 else [STALE]
        word = data_dir / f"frontier-{writer}.json"
        word.with_suffix(".new").write_text(json.dumps([sequence, refused]))
        word.with_suffix(".new").replace(word)
        store.settle(sequence, refused)
        store.roll()
    store.close()


def recovery(data_dir: Path, kill_at: int) -> None:
    recover(
        data_dir,
        lambda writer: word_of(data_dir, writer),
        writers=dead_writers(data_dir),
        disk=KillingDisk(kill_at),
    )


def run(work: Callable[..., None], *args: object) -> bool:
    """Run it in a process of its own; whether it came to its end."""
    process = SPAWN.Process(target=work, args=args)
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode == 0


def committed(data_dir: Path, bases: dict[int, int]) -> list[int]:
    rows: list[int] = []
    for writer, base in bases.items():
        for sequence in range(1, word_of(data_dir, writer)[0] + 1):
            rows.append(base + sequence)
            if sequence % 3 == 0:
                rows.append(-(base + sequence))
    return sorted(rows)


def in_parquet(data_dir: Path, table: str) -> list[int]:
    rows: list[int] = []
    for path in (data_dir / table).glob("*.parquet"):
        rows += pq.read_table(path, columns=["url_hash"])["url_hash"].to_pylist()
    return sorted(rows)


def in_warc(data_dir: Path) -> list[int]:
    rows: list[int] = []
    for path in (data_dir / "warc").glob("*.warc.gz"):
        with path.open("rb") as source:
            for record in ArchiveIterator(source):
                if record.rec_type == "response":
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    rows.append(int(url.rpartition("/")[2]))
        indexed = path.with_name(path.name.replace(".warc.gz", ".cdxj")).read_text().splitlines()
        assert indexed
    return sorted(rows)


def seen(data_dir: Path, table: str) -> list[int]:
    with open_store(data_dir) as connection:
        rows = connection.execute(f"SELECT url_hash FROM {table} ORDER BY 1").fetchall()
    return [row[0] for row in rows]


def check_after_death(data_dir: Path, bases: dict[int, int]) -> None:
    """A reader sees nothing twice and nothing void; it may yet lack the last checkpoint."""
    wanted = committed(data_dir, bases)
    for table in ("pages", "fetches", "links"):
        found = seen(data_dir, table)
        assert len(found) == len(set(found))
        assert set(found) <= set(wanted)


def check_recovered(data_dir: Path, bases: dict[int, int]) -> None:
    wanted = committed(data_dir, bases)
    for table in ("pages", "fetches", "links"):
        assert in_parquet(data_dir, table) == wanted
    assert in_warc(data_dir) == wanted
    assert dead_writers(data_dir) == []
    assert not list(data_dir.rglob("*.seg"))
    assert not list(data_dir.rglob("*.tmp"))


def check_warc(data_dir: Path) -> None:
    files = sorted((data_dir / "warc").glob("*.warc.gz"))
    for words in (["warcio", "check"], ["fastwarc", "check", "-q"]):
        tool = Path(sys.executable).with_name(words[0])
        for path in files:
            subprocess.run([tool, *words[1:], path], check=True)
    subprocess.run(["gzip", "-t", *files], check=True)


def test_killed_at_every_step_of_writing(tmp_path: Path) -> None:
    for kill_at in range(1, 1000):
        data_dir = tmp_path / str(kill_at)
        data_dir.mkdir()
        ended = run(crawl, data_dir, 7, 100, 4, kill_at)
        if kill_at % 5 == 0 and (data_dir / "journal").exists():
            check_after_death(data_dir, {7: 100})
        report = recover(data_dir, lambda w: word_of(data_dir, w), writers=dead_writers(data_dir))  # noqa: B023
        assert report.batches_missing == 0
        assert report.set_aside == []
        check_recovered(data_dir, {7: 100})
        if ended:
            assert kill_at > 30, "there are more steps than that"
            check_warc(data_dir)
            return
    pytest.fail("it never came to its end")


def test_killed_at_every_step_of_recovering(tmp_path: Path) -> None:
    """One recovery after the other, each killed one step later, until one comes through."""
    for writer, base in ((7, 100), (8, 500)):
        assert not run(crawl, tmp_path, writer, base, 5, 19)
    check_after_death(tmp_path, {7: 100, 8: 500})
    kill_at = 1
    while not run(recovery, tmp_path, kill_at):
        check_after_death(tmp_path, {7: 100, 8: 500})
        kill_at += 1
    assert kill_at > 8
    check_recovered(tmp_path, {7: 100, 8: 500})


def test_killed_at_random_moments(tmp_path: Path) -> None:
    rng = random.Random(20)
    bases: dict[int, int] = {}
    for round_number in range(1, 13):
        writer = round_number
        bases[writer] = round_number * 100_000
        process = SPAWN.Process(target=crawl, args=(tmp_path, writer, bases[writer], 10**6, -1))
        process.start()
        while word_of(tmp_path, writer)[0] == 0:
            assert process.is_alive()
        # Not a wait for something: the moment of the kill is what is drawn by lot.
        time.sleep(rng.random() * 0.15)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        check_after_death(tmp_path, bases)
        if round_number % 3 == 0:
            dead = dead_writers(tmp_path)
            assert dead
            recover(tmp_path, lambda w: word_of(tmp_path, w), writers=dead)
            check_recovered(tmp_path, bases)
    assert len(committed(tmp_path, bases)) > len(bases), "some had come further than their first"
