"""The URL of the frontier's database: read, and shown without its password.

    sqlite:///PATH                      a file; sqlite:////PATH for an absolute path
    postgresql://USER@HOST:PORT/NAME    a server, in any form that libpq takes
    redis://HOST:PORT/NUMBER            a server; rediss:// with TLS
    redis+cluster://HOST:PORT,HOST:PORT some nodes of a Redis Cluster; rediss+cluster:// with TLS

A password in the URL works, but is seen by everybody who lists processes: PGPASSWORD, a password
file, REDISCLI_AUTH or MANNERLY_DB_URL are better places. Wherever we show, log or keep a URL, it
went through `without_password`.
"""

import re
from pathlib import Path

SQLITE = "sqlite:///"
POSTGRES = ("postgresql://", "postgres://")
CLUSTER = ("redis+cluster://", "rediss+cluster://")
REDIS = ("redis://", "rediss://", *CLUSTER)

_FORM = re.compile(r"([a-z+]+://)(?:([^@/?#]*)@)?([^@/?#]*)(/[^@?#]*)?(\?[^#]*)?")
"""scheme, user and password, hosts, path, query: where libpq sees them."""
_NUMBER = re.compile(r"/?[0-9]*")
"""The path of a Redis URL: a database by its number, or none."""
_SECRET = re.compile(r"(?:ssl)?password", re.IGNORECASE)
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def database_url(text: str) -> str:
    """An option's value; `ValueError` without a word of what was given."""
    url = text.strip()
    if url.startswith(SQLITE) and url != SQLITE and url.isprintable():
        return url
    if not url.startswith(POSTGRES + REDIS):
        raise ValueError(
            "sqlite:///PATH (sqlite:////PATH for an absolute path), postgresql://USER@HOST/NAME or "
            "redis://HOST/NUMBER is needed"
        )
    form = _FORM.fullmatch(url)
    if form is not None and is_redis(url) and not _NUMBER.fullmatch(form[4] or ""):
        raise ValueError("redis://HOST/NUMBER is needed: a Redis database has no name")
    if form is not None and is_cluster(url) and (form[4] or "").strip("/0"):
        raise ValueError("redis+cluster://HOST:PORT is needed: a Cluster has only database 0")
    if not url.isprintable() or " " in url or form is None:
        raise ValueError(
            "postgresql://USER@HOST/NAME or redis://HOST/NUMBER is needed; write '@', ':', '/', "
            "'?' and '#' in a name or password as %40, %3A, %2F, %3F and %23"
        )
    return url


def schema_name(text: str) -> str:
    """A name that means the same with and without quotes."""
    name = text.strip()
    if not _SCHEMA.fullmatch(name) or name.startswith("pg_"):
        raise ValueError("a name of lower-case letters, digits and _ is needed")
    return name


def sqlite_path(url: str) -> Path | None:
    """The file that a URL names; None if it names a server."""
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None


def is_redis(url: str) -> bool:
    return url.startswith(REDIS)


def is_cluster(url: str) -> bool:
    return url.startswith(CLUSTER)


def cluster_nodes(url: str) -> list[str]:
    """The URL of each node that a Cluster's URL names."""
    form = _FORM.fullmatch(url)
    assert form is not None, "database_url says so"
    return [node_url(url, host) for host in form[3].split(",")]


def node_url(url: str, host: str) -> str:
    """One node (host and port) of a Cluster, reached as its URL says."""
    form = _FORM.fullmatch(url)
    assert form is not None, "database_url says so"
    user = f"{form[2]}@" if form[2] else ""
    return f"{form[1].replace('+cluster', '')}{user}{host}/0{form[5] or ''}"


def without_password(url: str) -> str:
    """The URL as it may be shown. Of one that cannot be taken apart only the scheme: nobody knows
    where in it a password begins and ends."""
    if url.startswith(SQLITE):
        return url
    form = _FORM.fullmatch(url)
    if form is None:
        scheme = re.match(r"[a-z+]+://", url)
        return f"{scheme[0] if scheme else ''}..."
    scheme_text, user, hosts, path, query = (part or "" for part in form.groups())
    name = user.partition(":")[0]
    named = f"{name}@" if name else ""
    pairs = [pair for pair in query[1:].split("&") if pair]
    shown = [pair for pair in pairs if not _SECRET.fullmatch(pair.partition("=")[0])]
    return f"{scheme_text}{named}{hosts}{path}" + (f"?{'&'.join(shown)}" if shown else "")
