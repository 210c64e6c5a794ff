"""create, clear, settings: from nothing to a crawl.

Who clears is at the beginning of a crawl, and nobody else can be until it has created one or its
connection has ended: an advisory lock. The settings hold its token meanwhile, so that a crawl is
created only by who cleared last: a connection may have been lost, and another process may have
begun in between.
"""

import random
import time
from collections.abc import Mapping, Sequence

from mannerly.errors import CrawlBusyError, CrawlExistsError, FrontierError, FrontierMisuseError
from mannerly.frontier.postgres import moving, statements
from mannerly.frontier.postgres.arrays import Texts
from mannerly.frontier.postgres.session import Session
from mannerly.frontier.postgres.trouble import LOCKED
from mannerly.frontier.rows import Row
from mannerly.frontier.site_ids import SiteIds

BEGINNER = "beginner"
"""The one setting of a crawl that is not created yet."""
CLEAR_TRIES = 20
CLEAR_AGAIN_S = 0.05


class Beginning:
    """What one open handle has of it."""

    def __init__(self, session: Session, chance: random.Random) -> None:
        self._session = session
        self._chance = chance
        self._token = ""

    def clear(self) -> None:
        for tries_left in reversed(range(CLEAR_TRIES)):
            try:
                self._clear_at_once()
            except CrawlBusyError:
                # The server may not have noticed yet that the one before is gone.
                if not tries_left:
                    raise
            except FrontierError as exc:
                if not tries_left or not isinstance(exc.__cause__, LOCKED):
                    raise
            else:
                return
            time.sleep(CLEAR_AGAIN_S)

    def _clear_at_once(self) -> None:
        session = self._session
        token = f"{self._chance.getrandbits(64):016x}"
        with session.writing() as transaction:
            if transaction.ask(statements.CREATED_LOCKED) == [(True,)]:
                raise CrawlExistsError(
                    f"{session.where} holds a crawl; it is not cleared. Add --resume to join it"
                )
            if transaction.ask(statements.TAKE_BEGINNING, session.schema) != [(True,)]:
                raise CrawlBusyError(
                    f"another process is just beginning a crawl in {session.where}; join it in a "
                    "moment, with --resume"
                )
            with transaction.round():
                transaction.send(statements.CLEAR_WITHIN)
                transaction.send(statements.CLEAR)
                transaction.send(statements.FORGET_SETTINGS)
                transaction.send(statements.ADD_SETTINGS, Texts([BEGINNER]), Texts([token]))
                transaction.commit()
        self._token = token

    def restore(self, ids: SiteIds, rows: Sequence[Row]) -> None:
        session = self._session
        with session.writing() as transaction:
            found: dict[str, str] = dict(transaction.ask(statements.SETTINGS))
            if not self._token or found.get(BEGINNER) != self._token:
                raise FrontierMisuseError("clear a crawl before it is restored")
            if rows:
                moving.restore(ids, transaction, rows)

    def create(self, settings: Mapping[str, str], wall_s: float) -> None:
        session = self._session
        with session.writing() as transaction:
            with transaction.round():
                asked = transaction.moment()
                created = transaction.send(statements.CREATE, wall_s)
                before = transaction.send(statements.SETTINGS)
            transaction.clock.read(asked)
            found: dict[str, str] = dict(before.fetchall())
            if not created.rowcount or (self._token and found.get(BEGINNER) != self._token):
                raise CrawlExistsError(f"{session.where} holds a crawl already; resume it")
            with transaction.round():
                names, values = Texts(list(settings)), Texts(list(settings.values()))
                transaction.send(statements.FORGET_SETTINGS)
                transaction.send(statements.ADD_SETTINGS, names, values)
                transaction.commit()


def settings(session: Session) -> dict[str, str] | None:
    with session.reading() as view, view.round():
        created = view.send(statements.CREATED)
        settings = view.send(statements.SETTINGS)
        view.commit()
    return dict(settings.fetchall()) if created.fetchall() == [(True,)] else None
