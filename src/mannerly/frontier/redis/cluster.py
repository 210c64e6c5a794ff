"""Where in a Redis Cluster the parts of a crawl are.

Each bucket's keys are in one of the Cluster's slots, and so are those of the crawl as a whole.
Which node has which, the nodes are asked for: anew whenever one is not where it was, after a
failover or when slots have been moved. A server that is none of a Cluster has all of it.
"""

from binascii import crc_hqx
from contextlib import closing, suppress
from typing import Any

from redis import exceptions

from mannerly.dburl import cluster_nodes, is_cluster, node_url
from mannerly.frontier.redis.connection import Connection, TimeOuts
from mannerly.frontier.redis.packing import BUCKETS

SLOTS = 16384
ANSWER_S = 2.0
"""Who has what any node knows at once; one that needs longer is passed over."""

CRAWL = -1
"""Stands for the keys of the crawl as a whole where else a bucket's number is."""


def slot_of(tag: str) -> int:
    """Of all keys with this hash tag."""
    return crc_hqx(tag.encode(), 0) % SLOTS


def tag_of(name: str, part: int) -> str:
    """The hash tag of a part of a crawl.

    Buckets are not simply numbered: with these 32 pairs of digits each bucket is in another 32nd of
    all slots, whatever the crawl's name (the sum that makes a slot of a tag is linear). So masters
    with as many slots have about as many buckets: 10 to 12 where there are three, and with 00 to
    31 it was 8 to 16.
    """
    return f"mannerly:{name}" if part == CRAWL else f"mannerly:{name}:{part // 4}{part % 4}"


def slots_of(name: str) -> dict[int, int]:
    """Of the parts of a crawl."""
    return {part: slot_of(tag_of(name, part)) for part in (CRAWL, *range(BUCKETS))}


class Nodes:
    """The way to the servers that have one crawl."""

    def __init__(self, url: str, name: str, limits: TimeOuts) -> None:
        self._url = url
        self._slots = slots_of(name)
        self._limits = TimeOuts(limits.connect_s, min(limits.answer_s, ANSWER_S))
        self._named = cluster_nodes(url) if is_cluster(url) else [url]
        self._heard_of: list[str] = []
        """Nodes that others told of: those of the URL may all be gone one day."""
        self._answered: list[str] = []
        """The last one that did: who asks another first may wait for one that is gone."""

    def addresses(self) -> dict[int, str]:
        """The URL of the server that has a part now; without parts that nobody has. Raises
        redis-py's errors."""
        if not is_cluster(self._url):
            return dict.fromkeys(self._slots, self._url)
        trouble: Exception = exceptions.ConnectionError("no node of the Cluster answers")
        for node in dict.fromkeys(self._answered + self._named + self._heard_of):
            try:
                found = self._asked(node)
            except (exceptions.RedisError, OSError) as exc:
                trouble = exc
            else:
                self._answered = [node]
                return found
        raise trouble

    def _asked(self, node: str) -> dict[int, str]:
        with closing(Connection(node, "mannerly-asks", self._limits)) as connection:
            (ranges,) = connection.ask(["CLUSTER", "SLOTS"])
        if isinstance(ranges, exceptions.ResponseError):
            raise ranges
        heard_of = [self._node(it, node) for _, _, *found in ranges for it in found]
        self._heard_of = list(dict.fromkeys(heard_of))
        masters = [(first, last, self._node(found[0], node)) for first, last, *found in ranges]
        return {
            part: master
            for part, slot in self._slots.items()
            for first, last, master in masters
            if first <= slot <= last
        }

    def _node(self, told: list[Any], asked: str) -> str:
        host, port = told[0].decode() if told[0] else "", told[1]
        if not host:
            # It does not know its own name: it is where it was asked.
            with suppress(IndexError):
                host = asked.split("://")[1].rpartition("@")[2].partition("/")[0].rpartition(":")[0]
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return node_url(self._url, f"{host}:{port}")
