"""The real program, killed with SIGKILL at one named step of its life.

The frontier, the store and the engine are the real ones; only, each of their steps is announced
before it is taken, and at the fatal one the process kills itself. So it dies between any two steps,
and in an append halfway through.

A step is named by when, what and where: `checkpoint: rename pages`. The time before the first
checkpoint is `start`: what a dead process left is rolled then.
"""

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from psycopg.abc import PQGen

from mannerly.cli import main
from mannerly.engine.checkpoint import Checkpointer
from mannerly.frontier.postgres import committing, session
from mannerly.frontier.postgres.adding import Batch
from mannerly.frontier.postgres.connection import Connection
from mannerly.frontier.sqlite.database import Database
from mannerly.store.disk import Buffer, Disk
from mannerly.store.journal import JournalStore
from mannerly.store.rolling import TableFile
from mannerly.store.warc.files import WarcFile

ANNOUNCED = {"add", "lease", "commit"}
"""The verbs of the frontier that a crawl is made of."""


class Steps:
    def __init__(self, fatal: str, reached: Path) -> None:
        self._fatal = fatal
        self._known: set[str] = set()
        self._reached = reached.open("a", buffering=1)
        self.when = "start"
        self.appending = "batch"
        """What the store appends to its journal."""
        self.verb = ""
        """Which verb of the frontier has a transaction."""

    def reach(self, what: str) -> None:
        if self.is_fatal(what):
            os.kill(os.getpid(), signal.SIGKILL)

    def is_fatal(self, what: str) -> bool:
        step = f"{self.when}: {what}"
        if step not in self._known:
            self._known.add(step)
            self._reached.write(f"{step}\n")
        return step == self._fatal


def place(path: Path) -> str:
    """Which of the store's files or folders it is."""
    if path.suffix == ".seg" or path.parent.name == "journal":
        return "journal"
    if path.name.removesuffix(".tmp").endswith(".cdxj"):
        return "index"
    return path.parent.name if path.suffix else path.name


def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    setattr(owner, name, wraps(original)(make(original)))


def watch_disk(steps: Steps) -> None:
    def append(original: Any) -> Any:
        def stepped(self: Disk, fd: int, *pieces: Buffer) -> None:
            steps.reach(f"append {steps.appending}")
            if steps.is_fatal(f"append half of {steps.appending}"):
                data = b"".join(pieces)
                original(self, fd, data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            original(self, fd, *pieces)

        return stepped

    def sync(original: Any) -> Any:
        def stepped(self: Disk, fd: int) -> None:
            steps.reach("sync journal")
            original(self, fd)
            steps.reach("journal synced")

        return stepped

    def on_path(name: str) -> Callable[[Any], Any]:
        def around(original: Any) -> Any:
            def stepped(self: Disk, path: Path, *rest: Path) -> Any:
                steps.reach(f"{name} {place(path)}")
                return original(self, path, *rest)

            return stepped

        return around

    replace(Disk, "append", append)
    replace(Disk, "sync", sync)
    for name in ("create", "sync_file", "sync_dir", "rename", "remove"):
        replace(Disk, name, on_path(name))


def watch_store(steps: Steps) -> None:
    def appends(what: str) -> Callable[[Any], Any]:
        def around(original: Any) -> Any:
            def stepped(self: JournalStore, *args: Any, **named: Any) -> Any:
                before, steps.appending = steps.appending, what
                try:
                    return original(self, *args, **named)
                finally:
                    steps.appending = before

            return stepped

        return around

    def begin(original: Any) -> Any:
        def stepped(self: TableFile | WarcFile) -> None:
            if not self.begun:
                steps.reach(f"begin {self.table.name}")
            original(self)

        return stepped

    def leave(original: Any) -> Any:
        def stepped(self: TableFile | WarcFile, *error: Any) -> None:
            if self.begun:
                steps.reach(f"finish {self.table.name}")
            original(self, *error)

        return stepped

    replace(JournalStore, "_begin", appends("head"))
    replace(JournalStore, "settle", appends("mark"))
    for file in (TableFile, WarcFile):
        replace(file, "begin", begin)
        replace(file, "__exit__", leave)


def watch_engine(steps: Steps) -> None:
    def run(original: Any) -> Any:
        async def stepped(self: Checkpointer) -> Any:
            # One with nothing to do may come before the first lease.
            if not self._ledger.empty:
                steps.when = "checkpoint"
            return await original(self)

        return stepped

    replace(Checkpointer, "run", run)


def watch_sqlite(steps: Steps) -> None:
    def writing(original: Any) -> Any:
        @contextmanager
        def stepped(self: Database, name: str, **sizes: Any) -> Iterator[Any]:
            with original(self, name, **sizes) as transaction:
                yield transaction
                if name in ANNOUNCED:
                    steps.reach(f"{name}: COMMIT")
            if name in ANNOUNCED:
                steps.reach(f"{name}: committed")

        return stepped

    replace(Database, "writing", writing)


def watch_postgres(steps: Steps) -> None:
    def verb(name: str) -> Callable[[Any], Any]:
        def around(original: Any) -> Any:
            def stepped(*args: Any) -> Any:
                steps.verb = name
                try:
                    done = original(*args)
                    steps.reach(f"{name}: committed")
                    return done
                finally:
                    steps.verb = ""

            return stepped

        return around

    def commit(original: Any) -> Any:
        def stepped(self: session.Transaction) -> None:
            if steps.verb:
                steps.reach(f"{steps.verb}: COMMIT")
            original(self)

        return stepped

    def wait(original: Any) -> Any:
        def stepped(self: Connection, gen: PQGen[Any], *args: Any, **named: Any) -> Any:
            return original(self, _until_sent(steps, self, gen), *args, **named)

        return stepped

    replace(committing, "commit", verb("commit"))
    replace(Batch, "apply", verb("add"))
    replace(session.Transaction, "commit", commit)
    replace(Connection, "wait", wait)


def _until_sent(steps: Steps, connection: Connection, gen: PQGen[Any]) -> Generator[Any, Any, Any]:
    """Announce the moment when the last round of a commit was sent and no answer was read."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            wanted = gen.send(ready)
            pipeline = connection._pipeline
            if steps.verb and pipeline is not None and not pipeline.command_queue:
                connection.pgconn.flush()
                steps.reach(f"{steps.verb}: sent")
    except StopIteration as end:
        return end.value


def live(words: list[str], fatal: str, reached: Path) -> None:
    """Run the command line in this process, to its end or to step `fatal`. The steps that it came
    to are written to `reached`, one a line."""
    steps = Steps(fatal, reached)
    for watch in (watch_disk, watch_store, watch_engine, watch_sqlite, watch_postgres):
        watch(steps)
    sys.argv = ["mannerly", *words]
    main()
