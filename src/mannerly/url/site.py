"""Which site a host belongs to: the unit of politeness.

By default the registered domain by the Public Suffix List, its private section included
(`user.github.io` is a site of its own). The list comes with the `publicsuffixlist` package, which
is released anew with every change of it, and is never downloaded; a newer one can be given as a
file. `version` says which one it is, so that crawlers of one crawl can agree on it.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from publicsuffixlist import PublicSuffixList

from mannerly.errors import ConfigError

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

    __slots__ = ("_cache", "_list", "of_origins", "version")

    of_origins: dict[str, str]
    """Sites of plain origins (`scheme://host[:port]`), as far as `resolve` has met them."""
    version: str
    """Identifies the suffix list: its own version line, if it has one, and a digest of its rules,
    since people change a list and leave the line as it is. `-` by host."""

    def __init__(
        self, by: Literal["domain", "host"] = "domain", suffixes: Iterable[str] | None = None
    ) -> None:
        """`suffixes`: the lines of another list than the packaged one."""
        self._cache: dict[str, str] = {}
        self.of_origins = {}
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


def suffix_list(path: Path | None = None) -> str:
    """The text of a suffix list: the packaged one, or that in a file.

    `ConfigError` if the file cannot be read or is something else: a list without `com` would make
    one site of a million.
    """
    if path is None:
        return files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: cannot read the public suffix list: {exc}") from exc
    if "com" not in _rules(text):
        raise ConfigError(f"{path}: this is no public suffix list: it has no rule for com")
    return text


@cache
def _packaged() -> tuple[PublicSuffixList, str]:
    return _loaded(suffix_list())


def _loaded(text: str) -> tuple[PublicSuffixList, str]:
    digest = hashlib.sha256("\n".join(_rules(text)).encode()).hexdigest()[:16]
    for line in text.splitlines()[:_HEADER_LINES]:
        if line.startswith(_VERSION_LINE):
            return PublicSuffixList(text), f"{line.removeprefix(_VERSION_LINE).strip()}-{digest}"
    return PublicSuffixList(text), digest


def _rules(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("//")]
