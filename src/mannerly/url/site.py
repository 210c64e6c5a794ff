"""Which site a host belongs to: the unit of politeness.

By default the registered domain by the Public Suffix List, its private section included
(`user.github.io` is a site of its own). The list comes with the `publicsuffixlist` package and is
never downloaded; `version` says which one it is, so that crawlers of one crawl can agree on it.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Literal

from publicsuffixlist import PublicSuffixList

_CACHE_LIMIT = 200_000
"""Hosts, about 30 MB. When it is full it starts anew: keeping order would cost more than the rare
refill."""
_VERSION_LINE = "// VERSION:"
_HEADER_LINES = 20


class SiteKey:
    """Maps hosts to sites. The answer never changes while the process lives.

    A host under an unknown top-level domain belongs to its last two labels; a host that is itself
    a public suffix (`co.uk`, `localhost`) and an IP address are their own site. Sites are in the
    form hosts have in canonical URLs: lower-case ASCII.
    """

    __slots__ = ("_cache", "_list", "version")

    version: str
    """Identifies the suffix list: its own version line, or a digest of it. `-` by host."""

    def __init__(
        self, by: Literal["domain", "host"] = "domain", suffixes: Iterable[str] | None = None
    ) -> None:
        """`suffixes`: the lines of another list than the packaged one."""
        self._cache: dict[str, str] = {}
        self._list: PublicSuffixList | None = None
        self.version = "-"
        if by == "domain":
            self._list, self.version = (
                _packaged() if suffixes is None else _loaded("\n".join(suffixes))
            )

    def site_of(self, host: str) -> str:
        """The site of a host as `host_of` gives it."""
        site = self._cache.get(host)
        if site is None:
            if len(self._cache) >= _CACHE_LIMIT:
                self._cache.clear()
            site = self._cache[host] = self._look_up(host)
        return site

    def _look_up(self, host: str) -> str:
        if self._list is None or host.endswith("]") or host.rpartition(".")[2].isdigit():
            # No name of the web ends in a number: the parser has made IPv4 of all that do.
            return host
        return self._list.privatesuffix(host) or host


@cache
def _packaged() -> tuple[PublicSuffixList, str]:
    source = files("publicsuffixlist").joinpath("public_suffix_list.dat")
    return _loaded(source.read_text(encoding="utf-8"))


def _loaded(text: str) -> tuple[PublicSuffixList, str]:
    for line in text.splitlines()[:_HEADER_LINES]:
        if line.startswith(_VERSION_LINE):
            version = line.removeprefix(_VERSION_LINE).strip()
            break
    else:
        version = hashlib.sha256(text.encode()).hexdigest()[:16]
    return PublicSuffixList(text), version
