"""What one process has of a crawl: functions that it calls, on one server or on many.

On one server a call covers the crawl as a whole and all buckets that it is about. In a Cluster it
covers one or the other, and only buckets of one node; calls to several nodes are on their way at
the same time. Everything here blocks, and belongs to the one thread that the executor gives it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from redis import exceptions

from mannerly.clock import Clock
from mannerly.dburl import is_cluster, without_password
from mannerly.errors import FrontierError, FrontierMisuseError
from mannerly.frontier.redis.calling import ALL, NOW, Answer, Caller, Covered
from mannerly.frontier.redis.cluster import CRAWL, Nodes
from mannerly.frontier.redis.connection import Part, Reply, TimeOuts
from mannerly.frontier.redis.crawlclock import CrawlClock
from mannerly.frontier.redis.library import Library
from mannerly.frontier.redis.link import Link
from mannerly.frontier.redis.links import Links, by_address
from mannerly.frontier.redis.packing import BUCKETS
from mannerly.frontier.redis.trouble import in_our_words, is_elsewhere
from mannerly.timing import Timings

__all__ = ["NOW", "Answer", "Batch", "Covered", "Session"]

Batch = Sequence[tuple[Covered, Sequence[Part]]]
"""Calls of one function: what each covers, and its arguments."""

Asked = Sequence[tuple[Link | FrontierError, Sequence[Part]]]
"""Commands, and where they go."""


class Session:
    """One process's way to one crawl. `close` it when done."""

    def __init__(
        self,
        url: str,
        name: str,
        *,
        library: Library,
        clock: Clock,
        timings: Timings,
        time_outs: TimeOuts,
    ) -> None:
        self.is_spread = is_cluster(url)
        """Over the nodes of a Cluster."""
        self.clock = CrawlClock(clock)
        self.where = f"{without_password(url)} (crawl {name})"
        self._caller = Caller(name, library, self.clock, is_spread=self.is_spread)
        limits = time_outs.in_cluster() if self.is_spread else time_outs
        nodes = Nodes(url, name, limits)
        self._links = Links(nodes, self._caller, self.where, timings, limits)

    def call(self, function: str, *arguments: Part) -> Answer:
        """For the crawl as a whole; on one server for all buckets, too."""
        return self.calls(function, [((), arguments)])[0]

    def at(self, bucket: int, function: str, *arguments: Part) -> Answer:
        """For one bucket."""
        return self.calls(function, [([bucket], arguments)])[0]

    def each(self, function: str, *arguments: Part) -> list[tuple[Covered, Answer]]:
        """For all buckets, node by node: which, and what was answered."""
        groups = self.groups()
        answers = self.calls(function, [(group, arguments) for group in groups])
        return list(zip(groups, answers, strict=True))

    def crawl_first(self, function: str, *arguments: Part) -> Iterator[Answer]:
        """For the crawl, and when that was looked at for all buckets. One answer on one server."""
        yield self.call(function, *arguments)
        if self.is_spread:
            for _, answer in self.each(function, *arguments):
                yield answer

    def groups(self, buckets: Covered = ALL) -> Sequence[Covered]:
        """Buckets that one call may cover."""
        return by_address(self._links.addresses(), buckets) if self.is_spread else [buckets]

    def run_from(self, bucket: int) -> Covered:
        """Buckets from this one on, as far as one call may cover them."""
        addresses = self._links.addresses()
        here = addresses.get(bucket)
        return list(takewhile(lambda it: addresses.get(it) == here, range(bucket, BUCKETS)))

    def calls(self, function: str, batch: Batch) -> list[Answer]:
        """Call a function several times, in one round trip. Others' calls may come in between. If
        one fails, that is raised when all were tried."""
        answers = []
        for answer in self.tried(function, batch):
            if isinstance(answer, FrontierError):
                raise answer
            answers.append(answer)
        return answers

    def tried(self, function: str, batch: Batch) -> list[Answer | FrontierError]:
        """The same, but a server that is away is told in the place of its answers."""
        with self._asking():
            links = self._links.to([covers[0] if covers else CRAWL for covers, _ in batch])
            asked_at = self.clock.now()
            commands = [
                self._caller.command(function, covers, arguments, asked_at)
                for covers, arguments in batch
            ]
            replies = self._exchanged(list(zip(links, commands, strict=True)))
            for link, (covers, _), reply in zip(links, batch, replies, strict=True):
                if not isinstance(link, FrontierError) and not isinstance(reply, FrontierError):
                    self._learn(link, asked_at, reply, is_crawl=not covers)
            return replies

    def command(self, *parts: Part) -> tuple[Reply, str]:
        """A command of the server's own, where the crawl as a whole is; its answer, and that
        server's run id: another one after every start."""
        with self._asking():
            (link,) = self._links.to([CRAWL])
            (reply,) = self._exchanged([(link, parts)])
            if isinstance(link, FrontierError) or isinstance(reply, FrontierError):
                raise reply
            return reply, link.server.run_id

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except (FrontierError, FrontierMisuseError):
            raise
        except BaseException:
            # Answers may be on their way that nobody waits for.
            self._links.close()
            raise
        finally:
            self._look_after()

    def _exchanged(self, asked: Asked) -> list[Any]:
        """Answers, in that order; all servers are asked before the first answer is read. What a
        mistaken caller is told is raised."""
        by_link: dict[Link, list[int]] = {}
        replies: list[Any] = [link for link, _ in asked]
        for index, (link, _) in enumerate(asked):
            if not isinstance(link, FrontierError):
                by_link.setdefault(link, []).append(index)
        for link, indexes in by_link.items():
            link.send([asked[index][1] for index in indexes])
        for link, indexes in by_link.items():
            for index, reply in zip(indexes, link.receive(), strict=True):
                replies[index] = self._in_our_words(link, reply)
        for reply in replies:
            if isinstance(reply, FrontierMisuseError):
                raise reply
        return replies

    def _in_our_words(self, link: Link, reply: Any) -> Any:
        """A server's refusal is an answer like any other; but one that tells of another state
        than we know (promoted, restarted, without our functions or a part of the crawl) needs a
        look from the start."""
        if not isinstance(reply, exceptions.RedisError | OSError):
            return reply
        if is_elsewhere(reply) or not isinstance(reply, exceptions.ResponseError):
            self._links.lose(link)
        error = in_our_words(self.where, reply)
        error.__cause__ = reply
        return error

    def _learn(self, link: Link, asked_at: float, answer: Answer, *, is_crawl: bool) -> None:
        if is_crawl or not self.is_spread:
            self.clock.read(asked_at, answer)
        elif self.clock.has_parted(asked_at, answer):
            link.has_parted = True

    def _look_after(self) -> None:
        """What was done is done: a clock that cannot be looked after now is so next time."""
        crawl = self._links.to_crawl()
        if crawl is not None:
            with self._losing(crawl):
                self.clock.look_after(lambda *it: crawl.ask(self._caller.now(it[0], (), *it[1:])))
        for link in self._links.all():
            if link.has_parted:
                with self._losing(link):
                    link.ask(self._caller.now("align", sorted(link.opened - {CRAWL})))
                    link.has_parted = False

    @contextmanager
    def _losing(self, link: Link) -> Iterator[None]:
        try:
            yield
        except (exceptions.RedisError, OSError):
            self._links.lose(link)

    def open(self) -> None:
        """Connect now: what is wrong with the URL or a server is to be told at the start."""
        self._links.open()

    def close(self) -> None:
        self._links.close()
