"""Each trouble of a server in our words, with what to do; and settings that are dangerous."""

import pytest
from redis import exceptions

from mannerly.errors import ConfigError, FrontierError, FrontierMisuseError
from mannerly.frontier.redis.connection import Connection, TimeOuts
from mannerly.frontier.redis.library import library
from mannerly.frontier.redis.server import Server, dangers, has_replica, refuse_unfit
from mannerly.frontier.redis.trouble import in_our_words, is_elsewhere

SAFE = Server(7, "standalone", "id", has_log=True, fsync="always", eviction="noeviction")


@pytest.mark.parametrize(
    ("exc", "advice"),
    [
        (exceptions.BusyLoadingError("Redis is loading the dataset in memory"), "still loads"),
        (exceptions.ReadOnlyError("You can't write against a read only replica."), "replica"),
        (exceptions.OutOfMemoryError("command not allowed when used memory"), "no memory left"),
        (exceptions.ResponseError("MISCONF Errors writing to the AOF file"), "its disk"),
        (exceptions.ResponseError("WRONGTYPE Operation against a key"), "another --db-schema"),
        (exceptions.AuthenticationError("invalid username-password pair"), "refused the user"),
        (exceptions.NoPermissionError("this user has no permissions"), "docs/redis.md"),
        (exceptions.ConnectionError("max number of clients reached"), "maxclients"),
        (exceptions.ConnectionError("Connection refused"), "check that it runs"),
        (exceptions.TimeoutError("Timeout reading from socket"), "check that it runs"),
        (exceptions.MovedError("866 127.0.0.1:7001"), "another node"),
        (exceptions.AskError("866 127.0.0.1:7001"), "is moving a part"),
        (exceptions.TryAgainError("Multiple keys request during rehashing"), "is moving a part"),
        (
            exceptions.ResponseError("Script attempted to access a non local key in a cluster"),
            "is moving a part",
        ),
        (
            exceptions.ResponseError(
                "Unable to execute command 'mget' in script because undeclared"
                " keys were accessed during rehashing of the slot"
            ),
            "is moving a part",
        ),
        (exceptions.ResponseError("Script attempted to access a slot not served"), "no master"),
        (
            exceptions.ResponseError(
                "Script attempted to execute a command while the cluster is down"
            ),
            "no master",
        ),
        (exceptions.ClusterDownError("Hash slot not served"), "no master"),
        (exceptions.ResponseError("ERR something else"), "Redis says ERR something else"),
    ],
)
def test_what_to_do(exc: Exception, advice: str) -> None:
    said = in_our_words("redis://cache.example/0", exc)
    assert isinstance(said, FrontierError)
    assert str(said).startswith("redis://cache.example/0: ")
    assert advice in str(said)


def test_who_has_the_crawl_is_asked_again_where_a_server_has_not_all_of_it() -> None:
    for words in (
        "Script attempted to access a non local key in a cluster node",
        "because undeclared keys were accessed during rehashing of the slot",
        "Script attempted to access a slot not served",
        "Script attempted to execute a command while the cluster is down",
        "Function not found",
    ):
        assert is_elsewhere(exceptions.ResponseError(words))
    assert is_elsewhere(exceptions.ReadOnlyError("You can't write against a read only replica."))
    assert not is_elsewhere(exceptions.OutOfMemoryError("command not allowed"))
    assert not is_elsewhere(exceptions.ResponseError("MISUSE writer 3 was retired"))


def test_a_functions_own_refusal_is_misuse() -> None:
    said = in_our_words("somewhere", exceptions.ResponseError("MISUSE writer 3 was retired"))
    assert isinstance(said, FrontierMisuseError)
    assert str(said) == "writer 3 was retired"


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (SAFE, []),
        (SAFE._replace(fsync="everysec"), []),
        (SAFE._replace(fsync=""), []),
        (SAFE._replace(fsync="no"), ["appendfsync is no"]),
        (SAFE._replace(has_log=False, fsync="no"), ["append-only file is off"]),
        (SAFE._replace(eviction="volatile-ttl"), ["maxmemory-policy is volatile-ttl"]),
        (SAFE._replace(mode="cluster"), ["has no replica"]),
        (SAFE._replace(mode="cluster", replicas=1), []),
    ],
)
def test_dangers(server: Server, words: list[str]) -> None:
    found = dangers(server)
    assert len(found) == len(words)
    assert all(word in danger for word, danger in zip(words, found, strict=True))


def test_a_replica_that_is_not_in_step_is_none() -> None:
    told = b"role:master\r\nconnected_slaves:%d\r\n%smaster_failover_state:no-failover\r\n"
    replica = b"slave0:ip=127.0.0.1,port=7001,state=%s,offset=42,lag=1\r\n"
    assert not has_replica(told % (0, b""))
    assert not has_replica(told % (1, replica % b"wait_bgsave"))
    assert has_replica(told % (1, replica % b"online"))


def test_only_a_log_that_is_synced_each_time_is_durable() -> None:
    assert SAFE.is_durable
    assert not SAFE._replace(fsync="everysec").is_durable
    assert not SAFE._replace(fsync="").is_durable
    assert not SAFE._replace(has_log=False).is_durable
    assert not SAFE._replace(was_replica=True).is_durable


@pytest.mark.parametrize("url", ["redis://me:s3cret@host:port/0", "redis://:s3cret@host/0?odd=1"])
def test_a_url_that_cannot_be_understood(url: str) -> None:
    with pytest.raises(ConfigError, match="cannot be understood") as caught:
        Connection(url, "test", TimeOuts())
    assert "s3cret" not in str(caught.value)


def test_old_servers_are_refused() -> None:
    refuse_unfit(SAFE, "somewhere")
    with pytest.raises(ConfigError, match="Redis 7"):
        refuse_unfit(SAFE._replace(major=6), "somewhere")


def test_a_url_says_whether_its_server_is_of_a_cluster() -> None:
    refuse_unfit(SAFE._replace(mode="cluster"), "somewhere", is_cluster=True)
    with pytest.raises(ConfigError, match=r"name it as redis\+cluster://, not redis://"):
        refuse_unfit(SAFE._replace(mode="cluster"), "somewhere")
    with pytest.raises(ConfigError, match=r"name it as redis://, not redis\+cluster://"):
        refuse_unfit(SAFE, "somewhere", is_cluster=True)


def test_another_text_is_another_library() -> None:
    packaged, other = library(), library({"10_clock.lua": "local function server_ms() end"})
    assert len({packaged.name, other.name, library(in_cluster=True).name}) == 3
    assert library() == packaged
    assert packaged.source.startswith(f"#!lua name={packaged.name}\n")
