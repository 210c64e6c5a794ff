"""A password is nowhere: not in a message, not in a `repr`, not in what is kept."""

from pathlib import Path

import pytest

from mannerly.config import load
from mannerly.dburl import (
    cluster_nodes,
    database_url,
    schema_name,
    sqlite_path,
    without_password,
)
from mannerly.errors import ConfigError
from mannerly.joining import place_text, settings_of
from mannerly.url import SiteKey

PASSWORD = "s3cret"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://db.example/crawl", "postgresql://db.example/crawl"),
        ("postgresql://me@db.example:5433/crawl", "postgresql://me@db.example:5433/crawl"),
        (f"postgres://me:{PASSWORD}@db.example/crawl", "postgres://me@db.example/crawl"),
        (f"postgresql://me:{PASSWORD}@a:1,b:2/crawl", "postgresql://me@a:1,b:2/crawl"),
        (f"postgresql:///crawl?host=/tmp&password={PASSWORD}&sslmode=require",
         "postgresql:///crawl?host=/tmp&sslmode=require"),
        (f"postgresql://h/crawl?sslpassword={PASSWORD}", "postgresql://h/crawl"),
        ("postgresql://me:p%40%2F@[::1]:5432/crawl", "postgresql://me@[::1]:5432/crawl"),
        ("redis://cache.example:6379/2", "redis://cache.example:6379/2"),
        (f"redis://:{PASSWORD}@cache.example/0", "redis://cache.example/0"),
        (f"rediss://me:{PASSWORD}@cache.example/0?password={PASSWORD}",
         "rediss://me@cache.example/0"),
        (f"rediss+cluster://me:{PASSWORD}@a:1,b:2", "rediss+cluster://me@a:1,b:2"),
    ],
)  # fmt: skip
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert database_url(url) == url
    assert sqlite_path(url) is None
    assert without_password(url) == shown


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://me:{PASSWORD}@with-at@host/crawl",
        f"postgresql://me:{PASSWORD}/slash@host/crawl",
        f"postgresql://me:{PASSWORD}#hash@host/crawl",
        f"postgresql://me:{PASSWORD} blank@host/crawl",
        f"mysql://me:{PASSWORD}@host/crawl",
        f"redis://me:{PASSWORD}@with-at@host/0",
        f"me:{PASSWORD}@host/crawl",
        f"host=db password={PASSWORD}",
        f"Postgresql://me:{PASSWORD}@host/crawl",
    ],
)
def test_a_url_that_does_not_fit_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load({"db_url": text}, environ={})
    assert "postgresql://USER@HOST/NAME" in str(caught.value)
    assert PASSWORD not in str(caught.value)
    # Nor is there a cause, which a traceback would show.
    assert caught.value.__cause__ is None


def test_a_redis_database_is_a_number() -> None:
    for url in ("redis://host", "redis://host/", "rediss://host:1/15"):
        assert database_url(url) == url
    with pytest.raises(ValueError, match="NUMBER"):
        database_url("redis://host/crawl")


def test_sqlite_files() -> None:
    assert sqlite_path(database_url("sqlite:///a/b.db")) == Path("a/b.db")
    assert sqlite_path(database_url("sqlite:////tmp/b.db")) == Path("/tmp/b.db")
    with pytest.raises(ValueError, match="sqlite:///PATH"):
        database_url("sqlite:///")


def test_no_password_in_what_a_crawl_keeps_and_says() -> None:
    url = f"postgresql://me:{PASSWORD}@host/crawl"
    config = load({"db_url": url, "email": "me@example.org"}, environ={})
    assert config.crawl.db_url == url
    assert PASSWORD not in repr(config)
    assert PASSWORD not in str(settings_of(config, SiteKey(by="domain"), "1"))
    assert place_text(config) == "postgresql://me@host/crawl (schema mannerly)"


@pytest.mark.parametrize("name", ["", "A", "1a", "a-b", "pg_x", 'a"', "a" * 64])
def test_a_schema_name_needs_no_quotes(name: str) -> None:
    with pytest.raises(ValueError, match="lower-case"):
        schema_name(name)
    assert schema_name(" crawl_2 ") == "crawl_2"


def test_each_node_of_a_cluster_is_reached_as_the_cluster_is() -> None:
    url = database_url(f"rediss+cluster://me:{PASSWORD}@a:1,[::1]:2/0?ssl_cert_reqs=none")
    assert cluster_nodes(url) == [
        f"rediss://me:{PASSWORD}@a:1/0?ssl_cert_reqs=none",
        f"rediss://me:{PASSWORD}@[::1]:2/0?ssl_cert_reqs=none",
    ]
    with pytest.raises(ValueError, match="only database 0"):
        database_url("redis+cluster://a:1/3")
