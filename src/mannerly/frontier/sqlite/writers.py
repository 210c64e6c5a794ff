"""The processes that lease and commit: enlist, how far they came, retire."""

import json
import random

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import MOVED_TO, WriterState
from mannerly.frontier.leases import duration_ms, moved_error
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database, Transaction


def enlist(database: Database, label: str, chance: random.Random) -> int:
    with database.writing("enlist") as transaction:
        moved = transaction.execute(statements.HAS_SETTING, (MOVED_TO,)).fetchone()
        if moved is not None:
            raise moved_error(str(database.path), moved[0])
        while True:
            # Drawn again if it is taken: a process that is started anew with the same seed (in
            # simulation) draws the ids of its former life.
            writer = chance.randrange(1, 2**63)
            if transaction.execute(statements.ENLIST, (writer, label)).rowcount:
                return writer


def writer_state(database: Database, writer: int) -> WriterState | None:
    with database.reading("writer state") as view:
        row = view.execute(statements.WRITER, (writer,)).fetchone()
    return None if row is None else WriterState(row[0], frozenset(json.loads(row[1])))


def enlisted_state(transaction: Transaction, writer: int) -> tuple[WriterState, bool]:
    """How far the writer came, and whether it is still enlisted. It must be known."""
    row = transaction.execute(statements.WRITER, (writer,)).fetchone()
    if row is None:
        raise FrontierMisuseError(f"writer {writer} was never enlisted in this crawl; enlist first")
    return WriterState(row[0], frozenset(json.loads(row[1]))), bool(row[2])


def retire(database: Database, writer: int, rest_s: float) -> int:
    # The search reads the clock of every site, so it is done without keeping anybody waiting.
    # A writer that is gone, or says goodbye, leases nothing in between.
    with database.reading("writer state") as view:
        held = [site for (site,) in view.execute(statements.HELD, (writer,))]
    with database.writing("retire", sites=len(held)) as transaction:
        transaction.execute(statements.DISCHARGE, (writer,))
        transaction.execute(statements.FORGET_CRAWLER, (writer,))
        now_at = transaction.now.up_at
        ready_at = now_at + duration_ms(rest_s)
        cursor = transaction.executemany(
            statements.BRING_BACK, [(ready_at, site, writer, now_at) for site in held]
        )
        return max(0, cursor.rowcount)
