"""TLS, users and passwords, on real servers: what docs/redis.md says is enough."""

import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.errors import FrontierError
from mannerly.frontier.conformance.shapes import Worker, released, settled, url
from mannerly.frontier.redis import RedisFrontier, TimeOuts
from tests.services.redis import RedisServer, free_port
from tests.services.redis_cluster import RedisCluster
from tests.unit.fetch.certificates import self_signed

NUMBERS = count(1)
PASSWORD = "correct-horse"
ALLOWED = (
    "+fcall", "+function|load", "+info", "+config|get", "+client", "+@read", "+@write", "+time",
    "~{mannerly:*",
)  # fmt: skip
IN_CLUSTER = ("+cluster|slots", "+wait")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    self_signed(folder, "localhost")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RedisServer]:
    pem = str(folder / "server.pem")
    tls = {"tls_port": str(free_port()), "tls_auth_clients": "no", "tls_cert_file": pem}
    with RedisServer(**tls, tls_key_file=pem) as server:
        server.execute("ACL", "SETUSER", "crawler", "on", f">{PASSWORD}", *ALLOWED)
        yield server


def opened(address: str) -> RedisFrontier:
    return RedisFrontier(
        address,
        schema=f"access_{next(NUMBERS)}",
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.SystemRandom(),
        time_outs=TimeOuts(connect_s=5, answer_s=5),
    )


async def crawled(address: str) -> None:
    """A bit of everything."""
    async with opened(address) as frontier:
        await frontier.clear()
        await frontier.add([url("a.example", 1), url("b.example", 1)])
        await frontier.create({"delay_s": "1"})
        worker = await Worker.enlist(frontier)
        leases = await worker.lease(2)
        await worker.commit(*(part for it in leases for part in (settled(it), released(it, 0))))
        await frontier.exclude(["b.example"])
        stats = await frontier.stats()
        assert (stats.fetched, stats.sites_excluded) == (2, 1)
        await frontier.forget("b.example")
        assert await frontier.retire(worker.writer, 0) == 0


async def test_a_server_is_known_by_its_certificate(server: RedisServer, folder: Path) -> None:
    address = f"rediss://localhost:{server.settings['tls-port']}/0"
    await crawled(f"{address}?ssl_ca_certs={folder / 'server.pem'}")
    with pytest.raises(FrontierError, match="certificate verify failed"):
        await crawled(address)


async def test_a_user_needs_no_more_than_is_written(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.url.replace("redis://", "redis://crawler@")
    with monkeypatch.context() as here:
        here.setenv("REDISCLI_AUTH", PASSWORD)
        await crawled(address)
    server.execute("ACL", "SETUSER", "lesser", "on", f">{PASSWORD}", *ALLOWED, "-fcall")
    with pytest.raises(FrontierError, match=r"grant it what docs/redis\.md says"):
        await crawled(server.url.replace("redis://", f"redis://lesser:{PASSWORD}@"))


async def test_a_password_that_is_wrong_or_missing(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDISCLI_AUTH", raising=False)
    for user in ("crawler", "crawler:battery-staple"):
        with pytest.raises(FrontierError, match="refused the user or the password") as caught:
            await crawled(server.url.replace("redis://", f"redis://{user}@"))
        assert "staple" not in str(caught.value)


async def test_a_user_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    with RedisCluster(1, 1) as cluster:
        for node in cluster.nodes:
            node.execute("ACL", "SETUSER", "crawler", "on", f">{PASSWORD}", *ALLOWED, *IN_CLUSTER)
        monkeypatch.setenv("REDISCLI_AUTH", PASSWORD)
        await crawled(cluster.url.replace("redis+cluster://", "redis+cluster://crawler@"))
