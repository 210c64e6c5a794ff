"""A private Redis Cluster for tests: some masters, each with a replica or without, on 127.0.0.1.

`shared()` is one for the whole test session. A test that breaks nodes starts one of its own.
"""

import atexit
import functools
import time
from contextlib import ExitStack, closing
from typing import Self

from redis import exceptions

from mannerly.dburl import node_url
from mannerly.frontier.redis.cluster import CRAWL, SLOTS, Nodes, slots_of, tag_of
from mannerly.frontier.redis.connection import Connection, TimeOuts
from tests.services.redis import START_WITHIN_S, USUAL, RedisServer, free_port

MASTERS = 3
SETTINGS = {
    "cluster_enabled": "yes",
    "cluster_node_timeout": "3000",
    "repl_diskless_sync_delay": "0",  # a master waits else 5 s for more replicas than one
}


class RedisCluster:
    """`with RedisCluster() as cluster: RedisFrontier(cluster.url, ...)`."""

    def __init__(
        self, masters: int = MASTERS, replicas: int = 1, program: str = USUAL, /, **settings: str
    ) -> None:
        """`replicas` of each (none or one). `settings` as those of `RedisServer`, for all nodes."""
        self._masters = masters
        self._program = program
        self._replicas = masters * replicas
        self._stack = ExitStack()
        self._settings = {**SETTINGS, **settings}
        self.nodes = [self._node() for _ in range(self._masters + self._replicas)]

    def _node(self) -> RedisServer:
        # Its second port is else its first and 10,000, which may be no port.
        return RedisServer(self._program, **self._settings, cluster_port=str(free_port()))

    @property
    def url(self) -> str:
        """Names those that it began with."""
        first = self.nodes[: self._masters + self._replicas]
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in first)

    def start(self) -> None:
        for node in self.nodes:
            self._stack.enter_context(node)
        masters, replicas = self.nodes[: self._masters], self.nodes[self._masters :]
        edges = [SLOTS * number // len(masters) for number in range(len(masters) + 1)]
        for number, node in enumerate(masters):
            node.execute("CLUSTER", "ADDSLOTSRANGE", edges[number], edges[number + 1] - 1)
            node.execute("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        self._meet(*self.nodes[1:])
        for master, replica in zip(masters, replicas, strict=False):
            id_ = master.execute("CLUSTER", "MYID")
            self.wait_until(replica, id_, "CLUSTER", "NODES")  # they have met, but not spoken
            replica.execute("CLUSTER", "REPLICATE", id_)
        for node in self.nodes:
            self.wait_until(node, b"cluster_state:ok", "CLUSTER", "INFO")
        for node in replicas:
            self.wait_until(node, b"master_link_status:up", "INFO")
        for node in masters[: len(replicas)]:
            self.wait_until(node, b"connected_slaves:1", "INFO")

    def join(self) -> RedisServer:
        """A master more, which has no slots yet."""
        node = self._stack.enter_context(self._node())
        self.nodes.append(node)
        self._meet(node)
        self.wait_until(node, b"cluster_state:ok", "CLUSTER", "INFO")
        return node

    def _meet(self, *nodes: RedisServer) -> None:
        for node in nodes:
            port = node.settings["cluster-port"]
            self.nodes[0].execute("CLUSTER", "MEET", "127.0.0.1", node.port, port)
        known = b"cluster_known_nodes:%d\r" % len(self.nodes)
        for node in self.nodes:
            self.wait_until(node, known, "CLUSTER", "INFO")

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

    def masters_of(self, name: str) -> dict[int, RedisServer]:
        """The nodes that have the parts of a crawl now."""
        by_url = {node_url(self.url, f"127.0.0.1:{it.port}"): it for it in self.nodes}
        addresses = Nodes(self.url, name, TimeOuts(connect_s=2)).addresses()
        return {part: by_url[address] for part, address in addresses.items()}

    def master_of(self, name: str, part: int = CRAWL) -> RedisServer:
        return self.masters_of(name)[part]

    def set_in_each(self, name: str, key: str, value: int) -> None:
        """A key of the crawl as a whole, and of each bucket."""
        batches: dict[str, list[tuple[str, str, int]]] = {}
        for part, address in self._addresses(name).items():
            batches.setdefault(address, []).append(
                ("SET", f"{{{tag_of(name, part)}}}:{key}", value)
            )
        for address, commands in batches.items():
            with closing(Connection(address, "test", TimeOuts())) as connection:
                assert set(connection.ask(*commands)) == {b"OK"}

    @functools.lru_cache(maxsize=1)  # noqa: B019 - for crawls that nobody moves
    def _addresses(self, name: str) -> dict[int, str]:
        return Nodes(self.url, name, TimeOuts(connect_s=2)).addresses()

    def move(self, name: str, to: RedisServer, part: int = CRAWL) -> None:
        """Move the slot of a part of a crawl to another master, as resharding does."""
        source, slot = self.master_of(name, part), slots_of(name)[part]
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
