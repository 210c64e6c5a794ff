"""The URLs of the benchmark: each a function of its number, so that no run needs to remember any.

Site names have a fixed width, so that their order as text is that of their numbers, and a fill goes
through every table from one end to the other.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from mannerly.model import NewUrl, Priority, Source
from mannerly.url import url_hash

FILL_BATCH = 500_000
PAGES_A_BATCH = 1_500
OWN_LINKS = 55
OTHER_LINKS = 12
"""Links of a page to its own site and to others: 67 in all, so a batch of 1,500 pages has 100,500.
What pages of the web have, less what a process has met before."""
ODD = 0x9E3779B97F4A7C15


def site_name(site: int) -> str:
    return f"site-{site:07d}.example"


def url_text(site: int, number: int, scheme: str = "https") -> str:
    """The URL number `number` of a site: 76 bytes, about the mean of the web."""
    mixed = (site * 1_000_003 + number) * ODD % 2**64
    return f"{scheme}://www.{site_name(site)}/section/{mixed:016x}/an-article-of-some-kind"


def _new(site: int, number: int, referrer: int, scheme: str = "https") -> NewUrl:
    url = url_text(site, number, scheme)
    return NewUrl(site_name(site), url_hash(url), url, 1, Priority.LINK, Source.LINK, referrer)


def fill(sites: int, first: int, urls_a_site: int, scheme: str = "https") -> Iterator[list[NewUrl]]:
    """`urls_a_site` URLs of each site, from its number `first` on, in the order of the tables."""
    batch: list[NewUrl] = []
    for site in range(sites):
        numbers = range(first, first + urls_a_site)
        batch.extend(_new(site, number, 0, scheme) for number in numbers)
        if len(batch) >= FILL_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Discovery:
    """Batches of URLs that nobody has seen, from a range of numbers that no fill uses.

    `stream` keeps two finders apart: what one finds is new to the other.
    """

    sites: int
    batch: int
    stream: int

    def links(self) -> Iterator[list[NewUrl]]:
        """As pages give them: most links of a page go to its own site."""
        chance = random.Random(self.stream)
        numbers = self._numbers(1)
        while True:
            urls: list[NewUrl] = []
            pages = max(1, min(self.sites, self.batch // (OWN_LINKS + OTHER_LINKS)))
            for site in chance.sample(range(self.sites), pages):
                page = chance.getrandbits(63)
                urls += [_new(site, next(numbers), page) for _ in range(OWN_LINKS)]
                for _ in range(OTHER_LINKS):
                    urls.append(_new(chance.randrange(self.sites), next(numbers), page))
            yield urls

    def uniform(self) -> Iterator[list[NewUrl]]:
        """Each URL of a random site: no two are neighbours in any table."""
        chance = random.Random(self.stream)
        numbers = self._numbers(2)
        while True:
            yield [
                _new(chance.randrange(self.sites), next(numbers), chance.getrandbits(63))
                for _ in range(self.batch)
            ]

    def _numbers(self, kind: int) -> Iterator[int]:
        return count((self.stream * 4 + kind) << 40)
