"""beat and crawlers: who is crawling, and what all of them together may still do."""

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.beats import FORGET_MS, Row, answered
from mannerly.frontier.contract import Beat, CrawlerFacts, Pulse
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database
from mannerly.frontier.sqlite.tally import Name
from mannerly.frontier.sqlite.writers import enlisted_state
from mannerly.model import Outcome


def beat(database: Database, writer: int, told: Beat) -> Pulse:
    # Not durable by itself: after a power cut nobody is crawling any more.
    with database.writing("beat", durable=False) as transaction:
        _, enlisted = enlisted_state(transaction, writer)
        if not enlisted:
            raise FrontierMisuseError(f"writer {writer} was retired; enlist again")
        rows = [Row(*row) for row in transaction.execute(statements.CRAWLERS)]
        if all(row.writer != writer for row in rows):
            transaction.execute(statements.FORGET_CRAWLERS, (transaction.now.at - FORGET_MS,))
        (fetched,) = transaction.execute(
            statements.TOTAL, (Name.SETTLED.value, int(Outcome.FETCHED))
        ).fetchone()
        row, pulse = answered(writer, told, rows, fetched, transaction.now.at)
        transaction.execute(statements.NOTE_CRAWLER, row)
    return pulse


def crawlers(database: Database) -> list[CrawlerFacts]:
    with database.reading("crawlers") as view:
        now_at = view.now.at
        return [
            CrawlerFacts(label, max(0, now_at - began_at) / 1000, max(0, now_at - seen_at) / 1000,
                         pages, rate, in_flight)
            for label, began_at, seen_at, pages, rate, in_flight in view.execute(
                statements.CRAWLING)
        ]  # fmt: skip
