"""beat and crawlers: who is crawling, and what all of them together may still do."""

from mannerly.frontier.beats import FORGET_MS, Row, answered
from mannerly.frontier.contract import Beat, CrawlerFacts, Pulse
from mannerly.frontier.postgres import statements
from mannerly.frontier.postgres.counting import Name
from mannerly.frontier.postgres.session import Session
from mannerly.frontier.postgres.writers import require_enlisted
from mannerly.model import Outcome


def beat(session: Session, writer: int, told: Beat) -> Pulse:
    with session.writing() as transaction:
        with transaction.round():
            held = transaction.send(statements.HOLD_WRITER, writer)
            asked = transaction.moment()
            # One at a time: what is left must not be given to two. Whoever waited sees, in the
            # statements that follow, what the one before did.
            transaction.send(statements.LOCK_CRAWLERS, session.schema)
        now = transaction.clock.read(asked)
        require_enlisted(writer, held.fetchall())
        with transaction.round():
            listed = transaction.send(statements.CRAWLERS)
            total = transaction.send(statements.TOTAL, Name.SETTLED.value, int(Outcome.FETCHED))
        rows = [Row(*row) for row in listed.fetchall()]
        ((fetched,),) = total.fetchall()
        row, pulse = answered(writer, told, rows, fetched, now.at)
        with transaction.round():
            if all(it.writer != writer for it in rows):
                transaction.send(statements.FORGET_CRAWLERS, now.at - FORGET_MS)
            transaction.send(statements.NOTE_CRAWLER, *row)
            transaction.commit()
    return pulse


def crawlers(session: Session) -> list[CrawlerFacts]:
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            listed = view.send(statements.CRAWLING)
            view.commit()
        now_at = view.clock.read(asked).at
    return [
        CrawlerFacts(label, max(0, now_at - began_at) / 1000, max(0, now_at - seen_at) / 1000,
                     pages, rate, in_flight)
        for label, began_at, seen_at, pages, rate, in_flight in listed.fetchall()
    ]  # fmt: skip
