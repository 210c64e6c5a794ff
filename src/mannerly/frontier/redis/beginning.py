"""create, clear, settings: from nothing to a crawl.

Who clears is at the beginning of a crawl, and nobody else can be until it has created one, has
closed its handle or its connection has ended. Redis has no lock that ends with a connection. So the
crawl holds who is beginning: a token and the connection, which whoever comes later asks the server
for. A crawl is created only by who cleared last: a connection may have been lost, and another
process may have begun in between.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress

from mannerly.errors import CrawlBusyError, CrawlExistsError, FrontierError
from mannerly.frontier.redis import moving
from mannerly.frontier.redis.packing import BUCKETS
from mannerly.frontier.redis.session import Session
from mannerly.frontier.rows import Row

EXISTS, NOT_MINE = -1, -2
QUEUES = 2000
"""Queues that one call of clear removes."""


class Beginning:
    """What one open handle has of it."""

    def __init__(self, session: Session, chance: random.Random) -> None:
        self._session = session
        self._chance = chance
        self._token = ""
        self._mine = ""
        """Token, start of the server, connection; as the crawl holds it."""

    def clear(self) -> None:
        self._take()
        for bucket in range(BUCKETS):
            first = 1
            while first:
                slice_ = (self._mine, bucket, first, QUEUES)
                (first,) = self._session.at(bucket, "clear", *slice_)[3:]
                self._require(first)

    def _take(self) -> None:
        session = self._session
        # One for the life of the handle: where an answer was lost it is known again.
        self._token = self._token or f"{self._chance.getrandbits(64):016x}"
        client, run_id = session.command("CLIENT", "ID")
        self._mine = f"{self._token} {run_id} {client}"
        state, found, number = session.call("take_beginning", self._mine, "")[3:]
        if state == NOT_MINE and not self._is_connected(found.decode()):
            state, _, number = session.call("take_beginning", self._mine, found)[3:]
        self._require(state)
        if session.is_spread:
            for _, answer in session.each("take_buckets", self._mine, number):
                self._require(answer[3])

    def _is_connected(self, beginner: str) -> bool:
        """Connections are numbered anew at each start of the server."""
        _, run_id, client = beginner.split(" ")
        found, run_id_now = self._session.command("CLIENT", "LIST", "ID", client)
        return run_id == run_id_now and bool(found)

    def _require(self, state: int) -> None:
        where = self._session.where
        if state == EXISTS:
            raise CrawlExistsError(
                f"{where} holds a crawl; it is not cleared. Add --resume to join it"
            )
        if state == NOT_MINE:
            raise CrawlBusyError(
                f"another process is just beginning a crawl in {where}; join it in a moment, with "
                "--resume"
            )

    def restore(self, rows: Sequence[Row]) -> None:
        if rows:
            moving.restore(self._session, self._mine, rows)

    def create(self, settings: Mapping[str, str], wall_s: float) -> None:
        pairs = [part for pair in settings.items() for part in pair]
        head = (self._mine, f"{wall_s:.3f}", len(settings))
        (created,) = self._session.call("create", *head, *pairs)[3:]
        if not created:
            raise CrawlExistsError(f"{self._session.where} holds a crawl already; resume it")
        self._mine = ""

    def leave(self) -> None:
        """Say so where nothing was created: the server may notice the end of a connection only
        after the next one has asked. If it cannot be said, the connection ends all the same."""
        if self._mine:
            with suppress(FrontierError):
                self._session.call("leave_beginning", self._mine)


def settings(session: Session) -> dict[str, str] | None:
    created, flat = session.call("settings")[3:]
    texts = [part.decode() for part in flat]
    return dict(zip(texts[::2], texts[1::2], strict=True)) if created else None
