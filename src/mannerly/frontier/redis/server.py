"""What a server says of itself, and whether a crawl is safe on it. Pure, but for the asking."""

from typing import NamedTuple

from redis import exceptions

from mannerly.errors import ConfigError
from mannerly.frontier.redis.connection import Connection

OLDEST = 7
"""The first major version with functions."""


class Server(NamedTuple):
    """How a server is set up, as far as it matters."""

    major: int
    mode: str
    run_id: str
    """Another one after every start."""
    has_log: bool
    """The append-only file is on."""
    fsync: str
    """`always`, `everysec` or `no`; '' where it may not be asked for."""
    eviction: str
    was_replica: bool = False
    """It was promoted: what its master acknowledged last may never have come here."""
    replicas: int = 0

    @property
    def is_durable(self) -> bool:
        """What was acknowledged is there, over any end of the server."""
        return self.has_log and self.fsync == "always" and not self.was_replica


def look(connection: Connection) -> Server:
    """Ask. Raises redis-py's errors."""
    info, fsync = connection.ask(["INFO"], ["CONFIG", "GET", "appendfsync"])
    if isinstance(info, exceptions.ResponseError):
        raise info
    lines = [line.partition(":") for line in info.decode("utf-8", "replace").splitlines()]
    facts = {name: value for name, _, value in lines}
    return Server(
        major=int(facts["redis_version"].partition(".")[0]),
        mode=facts.get("redis_mode") or facts.get("server_mode", "standalone"),  # Valkey: server_
        run_id=facts["run_id"],
        has_log=facts.get("aof_enabled") == "1",
        fsync=fsync[1].decode() if isinstance(fsync, list) and fsync else "",
        eviction=facts.get("maxmemory_policy", ""),
        was_replica=bool(facts.get("master_replid2", "").strip("0")),
        replicas=int(facts.get("connected_slaves", "0")),
    )


def has_replica(info: bytes) -> bool:
    """One that has all that its master had a moment ago; from `INFO replication`."""
    told = info.splitlines()
    return any(line.startswith(b"slave") and b",state=online," in line for line in told)


def refuse_unfit(server: Server, where: str, *, is_cluster: bool = False) -> None:
    """`ConfigError` for a server that cannot hold a crawl at all."""
    if server.major < OLDEST:
        raise ConfigError(f"{where}: Redis {OLDEST} or Valkey is needed; upgrade the server")
    if (server.mode == "cluster") != is_cluster:
        scheme, other = "redis+cluster", "redis"
        if is_cluster:
            scheme, other = other, scheme
        raise ConfigError(
            f"{where}: the server runs in mode {server.mode}; name it as {scheme}://, not {other}://"
        )


def dangers(server: Server) -> list[str]:
    """What about the server's settings would lose a crawl, each with what to do."""
    found = []
    if server.eviction != "noeviction":
        found.append(
            f"maxmemory-policy is {server.eviction}: with its memory full the server throws parts "
            "of the crawl away; set it to noeviction"
        )
    if not server.has_log:
        found.append(
            "the append-only file is off: a crash of the server loses all since its last snapshot, "
            "or the whole crawl; set appendonly to yes"
        )
    elif server.fsync == "no":
        found.append(
            "appendfsync is no: a power cut loses half a minute of the crawl or more; set it to "
            "always or everysec"
        )
    if server.mode == "cluster" and not server.replicas:
        found.append(
            "a master that has a part of the crawl has no replica: that part stands still while it "
            "is away; give it one"
        )
    return found
