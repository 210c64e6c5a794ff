"""URLs and responses for tests of the engine's decisions."""

from mannerly.config import build
from mannerly.engine.plan import EnginePlan
from mannerly.engine.sieve import Sieve
from mannerly.fetch.contract import Fetched
from mannerly.model import Priority, QueuedUrl, Source
from mannerly.url import Exclusions, SiteKey, url_hash

HOME = "http://example.org/"


def queued(
    url: str = HOME,
    *,
    priority: int = Priority.LINK,
    source: int = Source.LINK,
    depth: int = 2,
    tries: int = 0,
) -> QueuedUrl:
    return QueuedUrl(url, url_hash(url), depth, priority, 7, source, 99, tries)


def responded(url: str = HOME, status: int = 302, body: bytes = b"", **headers: bytes) -> Fetched:
    """A response; header names with `_` for `-`."""
    pairs = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return Fetched(url, status=status, headers=pairs, body=body, started_at=1.0, ended_at=2.0)


def sieve(*excluded: str) -> Sieve:
    plan = EnginePlan.of(build({"email": "a@example.org"}), 10)
    return Sieve(plan, SiteKey(), Exclusions(excluded))
