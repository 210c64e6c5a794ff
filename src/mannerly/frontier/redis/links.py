"""Which server has which part of a crawl, and the connections to all of them.

A server is asked for a part only when that was opened there: then it is known whether the server
was started anew or promoted since the part was last looked at, and may have lost its last moments.
"""

import logging
import time
from collections.abc import Iterable, Sequence

from redis import exceptions

from mannerly.errors import FrontierError, SchemaError
from mannerly.frontier.reaching import Reaching
from mannerly.frontier.redis import server
from mannerly.frontier.redis.calling import ALL, Caller, Covered
from mannerly.frontier.redis.cluster import CRAWL, Nodes
from mannerly.frontier.redis.connection import Part, TimeOuts
from mannerly.frontier.redis.library import CLUSTER_VERSION
from mannerly.frontier.redis.link import Link
from mannerly.frontier.redis.trouble import in_our_words
from mannerly.timing import Timings

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 0.2
"""How often the nodes of a Cluster that is in trouble are asked who has what."""


class Links:
    """Made anew when they break. `close` them when done."""

    def __init__(
        self, nodes: Nodes, caller: Caller, where: str, timings: Timings, time_outs: TimeOuts
    ) -> None:
        self._nodes = nodes
        self._caller = caller
        self._where = where
        self._timings = timings
        self._time_outs = time_outs
        self._links: dict[str, Link] = {}
        self._reaching: dict[str, Reaching] = {}
        self._warned: set[str] = set()
        self._addresses: dict[int, str] = {}
        self._is_doubtful = True
        """The addresses may not be true any more."""
        self._looked_at = -LOOK_AGAIN_S

    def addresses(self) -> dict[int, str]:
        """Where each part is. One that no server has is not among them."""
        for link in self.all():
            if not link.is_alive():
                self.lose(link)
        now_at = time.monotonic()
        if self._is_doubtful and now_at - self._looked_at >= LOOK_AGAIN_S:
            self._looked_at = now_at
            try:
                self._addresses = self._nodes.addresses()
            except (exceptions.RedisError, OSError) as exc:
                raise in_our_words(self._where, exc) from exc
            self._is_doubtful = False
        return self._addresses

    def all(self) -> list[Link]:
        return list(self._links.values())

    def to_crawl(self) -> Link | None:
        """To where the crawl as a whole is, if there is one."""
        return self._links.get(self._addresses.get(CRAWL, ""))

    def to(self, parts: Sequence[int]) -> list[Link | FrontierError]:
        """For each part the link to its server, or what is wrong with that."""
        addresses = self.addresses()
        if not self._caller.clock.is_open:
            self._connected(addresses.get(CRAWL, ""))
        found: dict[str, Link | FrontierError] = {}
        for address in dict.fromkeys(addresses.get(part, "") for part in parts):
            try:
                found[address] = self._connected(address)
            except FrontierError as exc:
                found[address] = exc
        return [found[addresses.get(part, "")] for part in parts]

    def _connected(self, address: str) -> Link:
        """A link to a server whose parts of the crawl were all opened."""
        here = {part for part, it in self._addresses.items() if it == address}
        link = self._links.get(address)
        if link is not None and here <= link.opened:
            return link
        # The other nodes of a Cluster are there to be asked, and one of them has it soon.
        reaching = Reaching(1.0) if self._caller.is_spread else Reaching()
        reaching = self._reaching.setdefault(address, reaching)
        try:
            with reaching.attempt(self._where), self._timings.measure("connect"):
                if not address:
                    raise exceptions.ClusterDownError("no node has the slot of this crawl")
                return self._opened(link, address, here)
        except (exceptions.RedisError, OSError) as exc:
            raise in_our_words(self._where, exc) from exc

    def _opened(self, link: Link | None, address: str, here: set[int]) -> Link:
        try:
            if link is None:
                name, library = self._caller.name, self._caller.library
                link = Link(address, name, library, self._time_outs, self._where)
                self._judge(link.server)
            self._open(link, sorted(here - link.opened))
            link.opened |= here
        except BaseException:
            self._is_doubtful = True
            if link is not None:
                self.lose(link)
            raise
        if self._caller.is_spread:
            link.wait_for_replica()
        self._links[address] = link
        return link

    def _judge(self, found: server.Server) -> None:
        """The server must be fit."""
        server.refuse_unfit(found, self._where, is_cluster=self._caller.is_spread)
        dangers = [it for it in server.dangers(found) if it not in self._warned]
        self._warned.update(dangers)
        for danger in dangers:
            log.warning("%s: %s", self._where, danger)

    def _open(self, link: Link, parts: Sequence[int]) -> None:
        """The functions must be there, the layout ours, the clock known."""

        def ask(function: str, *arguments: Part, covers: Covered = ()) -> list[Part]:
            command = self._caller.now(function, covers, *arguments)
            answer: list[Part] = link.asked_first(command)
            return answer

        who = (link.server.run_id, int(link.server.is_durable))
        rests = False
        if CRAWL in parts:
            self._require_version(int(ask("moment")[5]))
            self._caller.clock.open(ask)
            rests = bool(ask("open", *who)[3])
        buckets = [part for part in parts if part != CRAWL]
        if buckets and self._caller.is_spread:
            rests = bool(ask("open", *who, covers=buckets)[3]) or rests
        if rests:
            log.warning(
                "%s: %s was restarted or promoted and may have lost its last moments; no site that "
                "it has is leased until the longest lease would have lapsed",
                self._where,
                "a node" if self._caller.is_spread else "the server",
            )

    def _require_version(self, version: int) -> None:
        known = self._caller.library.version
        if version > known:
            raise SchemaError(
                f"{self._where} was written by a newer Mannerly (version {version}, this one knows "
                f"{known}); upgrade Mannerly, or name another --db-schema"
            )
        if known == CLUSTER_VERSION and 0 < version < known:
            raise SchemaError(
                f"{self._where} was written by an older Mannerly, with all keys in one slot; move "
                "it with that one (mannerly migrate), or name another --db-schema"
            )

    def lose(self, link: Link) -> None:
        link.close()
        self._is_doubtful = True
        if self._links.get(link.address) is link:
            del self._links[link.address]

    def open(self) -> None:
        """Connect to all of them now."""
        for link in self.to([CRAWL, *ALL]):
            if isinstance(link, FrontierError):
                raise link

    def close(self) -> None:
        for link in self.all():
            self.lose(link)


def by_address(addresses: dict[int, str], buckets: Iterable[int]) -> list[list[int]]:
    """Buckets that one call may cover."""
    found: dict[str, list[int]] = {}
    for bucket in buckets:
        found.setdefault(addresses.get(bucket, ""), []).append(bucket)
    return list(found.values())
