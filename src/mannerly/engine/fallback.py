"""Bare domains: `example.org` is asked for over https first, and over http if that fails. Pure."""

from mannerly.model import NewUrl, Outcome, Priority, QueuedUrl, Source
from mannerly.url import url_hash

FALLS_BACK = frozenset(
    {Outcome.CONNECT_FAILED, Outcome.TLS_FAILED, Outcome.TIMED_OUT, Outcome.BROKEN}
)
"""Nobody speaks https there. A name that does not exist, or that DNS could not tell, is no matter
of the scheme."""


def falls_back(url: QueuedUrl, failure: Outcome | None) -> bool:
    """Is the bare domain tried over http, now that asking its https origin for robots.txt failed?

    Asked only of that request: once robots.txt has come over https, somebody speaks it, and a page
    that fails is tried again like any other.
    """
    return (
        url.source == Source.BARE_SEED and url.url.startswith("https://") and failure in FALLS_BACK
    )


def over_http(url: QueuedUrl, site: str) -> NewUrl:
    """The same seed without TLS; not bare any more, so that it falls back no further."""
    plain = "http://" + url.url.removeprefix("https://")
    return NewUrl(site, url_hash(plain), plain, url.depth, Priority.NEXT, Source.SEED, url.referrer)
