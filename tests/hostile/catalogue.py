"""All hostile sites."""

from tests.hostile import bodies, documents, leading, robots, tls, wire
from tests.hostile.site import Site, crowded

PAGES_A_SITE = 18
"""The crawl's cap: where a trap ends that has no end."""

CROWDS = 6


def sites() -> list[Site]:
    return [
        *wire.sites(),
        *bodies.odd_sites(),
        *leading.sites(PAGES_A_SITE),
        *documents.sites(PAGES_A_SITE),
        *tls.sites(),
        *robots.odd_sites(),
        *crowded([*bodies.large_sites(), *robots.large_sites()], into=CROWDS),
    ]
