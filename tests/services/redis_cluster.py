"""A private Redis Cluster for tests: three masters, each with a replica, on 127.0.0.1.

`shared()` is one for the whole test session. A test that breaks nodes starts one of its own.
"""

import atexit
import functools
import time
from contextlib import ExitStack
from typing import Any, Self

from redis import exceptions

from mannerly.dburl import node_url
from mannerly.frontier.redis.cluster import SLOTS, Nodes, slot_of
from mannerly.frontier.redis.connection import TimeOuts
from tests.services.redis import START_WITHIN_S, RedisServer, free_port

MASTERS = 3
SETTINGS = {"cluster_enabled": "yes", "cluster_node_timeout": "3000"}


class RedisCluster:
    """`with RedisCluster() as cluster: RedisFrontier(cluster.url, ...)`."""

    def __init__(self, **settings: str) -> None:
        """`settings` as those of `RedisServer`, for all nodes."""
        self._stack = ExitStack()
        # A node's second port is else its first and 10,000, which may be no port.
        self.nodes = [
            RedisServer(**{**SETTINGS, **settings}, cluster_port=str(free_port()))
            for _ in range(2 * MASTERS)
        ]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def start(self) -> None:
        for node in self.nodes:
            self._stack.enter_context(node)
        masters, replicas = self.nodes[:MASTERS], self.nodes[MASTERS:]
        edges = [SLOTS * number // MASTERS for number in range(MASTERS + 1)]
        for number, node in enumerate(masters):
            node.execute("CLUSTER", "ADDSLOTSRANGE", edges[number], edges[number + 1] - 1)
            node.execute("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for node in self.nodes[1:]:
            port = node.settings["cluster-port"]
            self.nodes[0].execute("CLUSTER", "MEET", "127.0.0.1", node.port, port)
        for node in self.nodes:
            self.wait_until(node, b"cluster_known_nodes:6", "CLUSTER", "INFO")
        for master, replica in zip(masters, replicas, strict=True):
            replica.execute("CLUSTER", "REPLICATE", master.execute("CLUSTER", "MYID"))
        for node in self.nodes:
            self.wait_until(node, b"cluster_state:ok", "CLUSTER", "INFO")
        for node in replicas:
            self.wait_until(node, b"master_link_status:up", "INFO")
        for node in masters:
            self.wait_until(node, b"connected_slaves:1", "INFO")

    def wait_until(self, node: RedisServer, words: bytes, *command: str) -> None:
        """Until a node says so."""
        give_up_at = time.monotonic() + START_WITHIN_S
        while not self._says(node, words, *command):
            assert time.monotonic() < give_up_at, f"no node says {words.decode()}"
            time.sleep(0.02)

    def _says(self, node: RedisServer, words: bytes, *command: str) -> bool:
        try:
            return words in node.execute(*command)
        except (exceptions.RedisError, OSError):
            return False

    def master_of(self, name: str) -> RedisServer:
        """The node that has a crawl now."""
        address = Nodes(self.url, f"mannerly:{name}", TimeOuts(connect_s=2)).address()
        return next(
            it for it in self.nodes if node_url(self.url, f"127.0.0.1:{it.port}") == address
        )

    def execute(self, name: str, *command: str | bytes | int) -> Any:
        """One command, where a crawl is."""
        return self.master_of(name).execute(*command)

    def move(self, name: str, to: RedisServer) -> None:
        """Move the slot of a crawl to another master, as resharding does."""
        source, slot = self.master_of(name), slot_of(f"mannerly:{name}")
        ids = [it.execute("CLUSTER", "MYID") for it in (source, to)]
        to.execute("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
        source.execute("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
        self.move_keys(source, to, slot)
        for node in (to, source):
            node.execute("CLUSTER", "SETSLOT", slot, "NODE", ids[1])

    def move_keys(self, source: RedisServer, to: RedisServer, slot: int, most: int = 0) -> None:
        """All, or so many."""
        while keys := source.execute("CLUSTER", "GETKEYSINSLOT", slot, most or 100):
            target = ("127.0.0.1", to.port, "", 0, 5000)
            source.execute("MIGRATE", *target, "KEYS", *keys)
            if most:
                return

    def remove(self) -> None:
        self._stack.close()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


@functools.cache
def shared() -> RedisCluster:
    """The Cluster of this test session, started at first use and removed when Python ends."""
    # Nobody shall be promoted in it, however busy the machine is.
    cluster = RedisCluster(appendfsync="everysec", cluster_node_timeout="30000")
    atexit.register(cluster.remove)
    cluster.start()
    return cluster
