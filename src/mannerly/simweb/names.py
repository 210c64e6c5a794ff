"""Host names: a registered domain per site, under reserved top-level domains.

`brisk-heron-1f3.test` is site 0x1f3. The words come from the seed, so a name that was made up, or
that belongs to another seed, does not resolve. Both ways cost one hash.
"""

from mannerly.simweb.chance import numbered
from mannerly.simweb.words import ADJECTIVES, NOUNS

TLDS = ("test", "example", "test", "invalid")
_PAIRS = [f"{adjective}-{noun}" for noun in NOUNS for adjective in ADJECTIVES]
SUBHOSTS = ("blog", "shop", "docs", "news", "forum", "static")


def domain_of(key: int, index: int) -> str:
    """The registered domain of a site, from its hash."""
    return f"{_PAIRS[key & 4095]}-{index:x}.{TLDS[key >> 12 & 3]}"


def dead_host(key: int) -> str:
    """A host that does not exist, one of 4096: its number is beyond every possible site."""
    return f"{_PAIRS[key & 4095]}-f{key & 4095:07x}.test"


def index_of(salt: int, sites: int, host: str) -> int | None:
    """The site that a host (any host of its domain) belongs to; None if there is no such site."""
    stem, _, tld = host.rpartition(".")
    domain = stem.rpartition(".")[2]
    digits = domain.rpartition("-")[2]
    try:
        index = int(digits, 16)
    except ValueError:
        return None
    if not 0 <= index < sites:
        return None
    known = domain_of(numbered(salt, index), index)
    return index if known == f"{domain}.{tld}" else None
