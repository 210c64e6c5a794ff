"""create, clear, settings: from nothing to a crawl.

Who clears is at the beginning of a crawl, and nobody else can be until it has created one, has
closed the file or is dead: a lock on `FILE.begin`, which the kernel drops with its holder. The
settings hold its token meanwhile, so that a crawl is created only by who cleared last.
"""

import fcntl
import os
import random
from collections.abc import Mapping, Sequence

from mannerly.errors import CrawlBusyError, CrawlExistsError, FrontierMisuseError
from mannerly.frontier.rows import Row
from mannerly.frontier.sqlite import moving, statements
from mannerly.frontier.sqlite.database import Database

BEGINNER = "beginner"
"""The one setting of a crawl that is not created yet."""


class Beginning:
    """What one open handle has of it. All on the thread of the database."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._lock: int | None = None
        self._token = ""

    def clear(self, database: Database) -> None:
        self._take(database)
        self._token = f"{self._chance.getrandbits(64):016x}"
        with database.writing("clear") as transaction:
            (created,) = transaction.execute(statements.CREATED).fetchone()
            if created:
                raise CrawlExistsError(
                    f"{database.path} holds a crawl; it is not cleared. Add --resume to join it"
                )
            (last_id,) = transaction.execute(statements.LAST_ID).fetchone()
            for statement in statements.CLEAR:
                transaction.execute(statement)
            if last_id is not None:
                # Another process may remember ids: they must never mean another site.
                transaction.execute(statements.KEEP_ID, (last_id,))
            transaction.execute(statements.ADD_SETTING, (BEGINNER, self._token))

    def create(self, database: Database, settings: Mapping[str, str], wall_s: float) -> None:
        with database.writing("create") as transaction:
            (created,) = transaction.execute(statements.CREATED).fetchone()
            before = dict(transaction.execute(statements.SETTINGS))
            if created or (self._token and before.get(BEGINNER) != self._token):
                raise CrawlExistsError(f"{database.path} holds a crawl already; resume it")
            transaction.execute(statements.FORGET_SETTINGS)
            transaction.execute(statements.CREATE, (wall_s,))
            transaction.executemany(statements.ADD_SETTING, sorted(settings.items()))
        self.close()

    def restore(self, database: Database, rows: Sequence[Row]) -> None:
        """Made durable by `create`: whatever is missing then was never begun."""
        with database.writing("restore", durable=False, rows=len(rows)) as transaction:
            before = dict(transaction.execute(statements.SETTINGS))
            if not self._token or before.get(BEGINNER) != self._token:
                raise FrontierMisuseError("clear a crawl before it is restored")
            if rows:
                moving.restore(transaction, rows)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take(self, database: Database) -> None:
        if self._lock is not None:
            return
        path = database.path.with_name(database.path.name + ".begin")
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise CrawlBusyError(
                f"another process is just beginning a crawl in {database.path}; join it in a "
                "moment, with --resume"
            ) from None
        self._lock = lock


def settings(database: Database) -> dict[str, str] | None:
    with database.reading("settings") as view:
        (created,) = view.execute(statements.CREATED).fetchone()
        return dict(view.execute(statements.SETTINGS)) if created else None
