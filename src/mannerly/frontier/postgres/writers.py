"""The processes that lease and commit: enlist, how far they came, retire."""

import random
from collections.abc import Sequence

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import MOVED_TO, WriterState
from mannerly.frontier.leases import duration_ms, moved_error
from mannerly.frontier.postgres import budgets, statements
from mannerly.frontier.postgres.arrays import Bools, Ints
from mannerly.frontier.postgres.connection import Row
from mannerly.frontier.postgres.session import Session
from mannerly.frontier.server_clock import rested


def enlist(session: Session, label: str, chance: random.Random) -> int:
    while True:
        # Drawn again if it is taken: a process that is started anew with the same seed (in
        # simulation) draws the ids of its former life.
        writer = chance.randrange(1, 2**63)
        with session.writing() as transaction:
            with transaction.round():
                transaction.send(statements.HOLD_CRAWL)
                moved = transaction.send(statements.SETTING, MOVED_TO)
            for (to,) in moved.fetchall():
                raise moved_error(session.where, to)
            with transaction.round():
                answer = transaction.send(statements.ENLIST, writer, label)
                transaction.commit()
        if answer.rowcount:
            return writer


def writer_state(session: Session, writer: int) -> WriterState | None:
    with session.reading() as view:
        rows = view.ask(statements.WRITER, writer)
    return state_of(rows[0]) if rows else None


def state_of(row: Row) -> WriterState:
    return WriterState(row[0], frozenset(row[1]))


def require_known(writer: int, rows: Sequence[Row]) -> Row:
    """The writer's row."""
    if not rows:
        raise FrontierMisuseError(f"writer {writer} was never enlisted in this crawl; enlist first")
    return rows[0]


def require_enlisted(writer: int, rows: Sequence[Row]) -> None:
    if not require_known(writer, rows)[2]:
        raise FrontierMisuseError(f"writer {writer} was retired; enlist again")


def retire(session: Session, writer: int, rest_s: float) -> int:
    with session.writing() as transaction:
        with transaction.round():
            # From here on it leases nothing, and all it leased before is seen.
            known = transaction.send(statements.LOCK_WRITER, writer)
            transaction.send(statements.DISCHARGE, writer)
            transaction.send(statements.FORGET_CRAWLER, writer)
            transaction.send(statements.READ_IN_A_ROW)
            held = transaction.send(statements.HELD, writer)
        if known.fetchone() is None:
            return 0
        sites = sorted(site for (site,) in held.fetchall())
        if not sites:
            return 0
        with transaction.round():
            answer = transaction.send(statements.LOCK_SITES, Ints(sites))
            asked = transaction.moment()
        now = transaction.clock.read(asked)
        locked = budgets.locked(answer)
        rest_ms = duration_ms(rest_s)
        with transaction.round():
            back = transaction.send(
                statements.BRING_BACK,
                Ints(sites),
                Ints([rested(now, max(rest_ms, locked[site].delay)) for site in sites]),
                Bools([locked[site].waits for site in sites]),
                writer,
            )
            transaction.commit()
        # A lapsed one may have gone to another meanwhile.
        return len(back.fetchall())
