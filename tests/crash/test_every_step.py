"""kill -9 at every step of a checkpoint, with the real frontier, store and engine.

One crawl lives through all of it: each process goes on where the last one was killed, and is killed
one step further. After each death `mannerly check` must find that frontier and store agree; in the
end every page is there, once.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from mannerly.checking import check
from mannerly.config import load
from mannerly.simweb import pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from tests.crash.killed_at import live
from tests.programs import QUICK, Served, arguments, mannerly, served
from tests.services import postgres

# Forked from a process that has imported everything: a start takes no second, and there are many.
SPAWN = multiprocessing.get_context("forkserver")
SPAWN.set_forkserver_preload(["tests.crash.killed_at", "mannerly.session", "pyarrow.parquet"])

JOURNAL = (
    "create journal",
    "append head",
    "append half of head",
    "sync_dir journal",
    "append batch",
    "append half of batch",
    "sync journal",
    "journal synced",
    "append mark",
    "append half of mark",
    "remove journal",
)
ROLLED = ("pages", "links", "warc", "requests", "runs", "fetches")
ROLLING = (
    *(f"begin {table}" for table in ROLLED),
    *("finish fetches", "finish warc"),
    *(f"sync_file {table}" for table in (*ROLLED, "index")),
    *(f"rename {table}" for table in (*ROLLED, "index")),
    *(f"sync_dir {table}" for table in ROLLED),
)
FRONTIER = ("add: COMMIT", "add: committed", "commit: COMMIT", "commit: committed")
LEASE = ("lease: COMMIT", "lease: committed")
STEPS = tuple(f"checkpoint: {step}" for step in (*JOURNAL, *FRONTIER, *LEASE, *ROLLING))
RECOVERING = tuple(f"start: {step}" for step in ("rename fetches", "remove journal", *LEASE))
"""Some of what the start after a kill does; `test_store_kill` has all of it."""
OFTEN = {
    **QUICK,
    "--delay": "10ms",
    "--retry-delay": "10ms",
    "--checkpoint-interval": "50ms",
    "--segment-size": "2kB",
    "--keep": "links,warc",
    "--max-workers": "8",
    "--processes": "1",
}
"""Few at once: all lives together must not come to the end of the web, and every look at what a
death left goes through all that there is by then."""
SPEC = preset("plain", seed=8, sites=60, pages_mean=12.0, pages_max=40, body_mean=3000,
              links_min=8, links_max=12, latency_s=0.01)  # fmt: skip


@pytest.mark.timeout(600)
def test_killed_at_every_step_of_a_checkpoint(tmp_path: Path) -> None:
    with served(tmp_path, SPEC) as web:
        reached = live_and_die(tmp_path, web, (*STEPS, *RECOVERING))
        check_everything_is_there(tmp_path, web)
    taken = {step for step in reached if step.startswith("checkpoint: ")}
    assert taken == set(STEPS), "there are steps that nobody is killed at"


def test_killed_at_every_step_of_a_commit_to_postgresql(tmp_path: Path) -> None:
    name = f"every_step_{os.getpid()}"
    database = {"--db-url": postgres.shared().url, "--db-schema": name}
    sent = ("add: sent", "commit: sent")
    steps = [f"checkpoint: {step}" for step in (*FRONTIER, *sent, *JOURNAL[4:10])]
    with served(tmp_path, SPEC) as web:
        live_and_die(tmp_path, web, steps, database)
        check_everything_is_there(tmp_path, web, database)


def live_and_die(
    folder: Path, web: Served, steps: Sequence[str], database: dict[str, str] | None = None
) -> set[str]:
    """Start it once for each of `steps`, kill it there, and at last let it come to its end. Gives
    the steps that it came to in all."""
    data, reached = folder / "data", folder / "reached"
    options = {**OFTEN, **(database or {}), "--data-dir": str(data), "--connect-to": web.address}
    begin = ["--seed-file", str(web.write_seeds(folder / "seeds.txt"))]
    for step in steps:
        words = ["crawl", *arguments(options), *begin]
        assert run(words, step, reached) == -signal.SIGKILL, f"{step} was never reached"
        begin = ["--resume"]
        check_agreement(data, step, database)
    assert run(["crawl", *arguments(options), *begin], "", reached) == 0
    return set(reached.read_text().splitlines())


def run(words: list[str], fatal: str, reached: Path) -> int | None:
    process = SPAWN.Process(target=live, args=(words, fatal, reached))
    process.start()
    process.join(timeout=120)
    return process.exitcode


def check_agreement(data: Path, step: str, database: dict[str, str] | None) -> None:
    """As the dead process left it, before anything is mended."""
    named = {name.strip("-").replace("-", "_"): value for name, value in (database or {}).items()}
    report = asyncio.run(check(load({"data_dir": str(data), **named}, environ={})))
    assert report.problems == [], f"killed at {step}"
    assert report.compared
    found = urls(data, "pages")
    assert len(found) == len(set(found)), f"pages twice, killed at {step}"


def check_everything_is_there(
    folder: Path, web: Served, database: dict[str, str] | None = None
) -> None:
    data = folder / "data"
    expected = reachable(web.web, web.homes())
    assert urls(data, "pages") == sorted(pages_among(web.web, expected))
    fetches = urls(data, "fetches")
    assert len(fetches) == len(set(fetches))
    told = mannerly("check", "--data-dir", str(data), *arguments(database or {}))
    assert told.returncode == 0, told.stdout
    assert list((data / "journal").iterdir()) == []
    assert list(data.rglob("*.tmp")) == []


def urls(data: Path, table: str) -> list[str]:
    with open_store(data) as store:
        return sorted(url for (url,) in store.execute(f"SELECT url FROM {table}").fetchall())
