"""Where in a Redis Cluster a crawl is.

All keys of a crawl are in one of the Cluster's slots, so a function is as atomic there as on a
server of its own, and the crawl is on one master. Which one, the nodes are asked for, anew for
every connection: after a failover or when slots have been moved another one answers. A server that
is none of a Cluster is where its URL says.
"""

from binascii import crc_hqx
from contextlib import closing, suppress
from typing import Any

from redis import exceptions

from mannerly.dburl import cluster_nodes, is_cluster, node_url
from mannerly.frontier.redis.connection import Connection, TimeOuts

SLOTS = 16384


def slot_of(tag: str) -> int:
    """Of all keys with this hash tag."""
    return crc_hqx(tag.encode(), 0) % SLOTS


class Nodes:
    """The way to the server that has one crawl."""

    def __init__(self, url: str, tag: str, limits: TimeOuts) -> None:
        self._url = url
        self._slot = slot_of(tag)
        self._limits = limits
        self._named = cluster_nodes(url) if is_cluster(url) else [url]
        self._heard_of: list[str] = []
        """Nodes that others told of: those of the URL may all be gone one day."""

    def address(self) -> str:
        """The URL of the server that has the crawl now. Raises redis-py's errors."""
        if not is_cluster(self._url):
            return self._url
        trouble: Exception = exceptions.ConnectionError("no node of the Cluster answers")
        for node in dict.fromkeys(self._named + self._heard_of):
            try:
                return self._asked(node)
            except (exceptions.RedisError, OSError) as exc:
                trouble = exc
        raise trouble

    def _asked(self, node: str) -> str:
        with closing(Connection(node, "mannerly-asks", self._limits)) as connection:
            (ranges,) = connection.ask(["CLUSTER", "SLOTS"])
        if isinstance(ranges, exceptions.ResponseError):
            raise ranges
        masters = [found for first, last, *found in ranges if first <= self._slot <= last]
        heard_of = [self._node(it, node) for _, _, *found in ranges for it in found]
        self._heard_of = list(dict.fromkeys(heard_of))
        if not masters:
            raise exceptions.ClusterDownError("no node has the slot of this crawl")
        return self._node(masters[0][0], node)

    def _node(self, told: list[Any], asked: str) -> str:
        host, port = told[0].decode() if told[0] else "", told[1]
        if not host:
            # It does not know its own name: it is where it was asked.
            with suppress(IndexError):
                host = asked.split("://")[1].rpartition("@")[2].partition("/")[0].rpartition(":")[0]
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return node_url(self._url, f"{host}:{port}")
