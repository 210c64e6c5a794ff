"""What must not be crawled at all, as the operator says: a file with one rule per line.

    # blank lines and comments are skipped
    example.org                 the name and everything under it (any scheme, any port)
    www.example.net             the same, for one host
    192.0.2.7                   an address
    https://example.com/users/  every URL that starts so, by http as well as by https

An https prefix covers http too, because who asks not to be crawled means the place, not the way
there. An international name may be written either way.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from mannerly.errors import ConfigError, UrlError
from mannerly.url.normal import canonical, host_of


class Exclusions:
    """The rules, indexed so that asking costs one look-up per label of the host."""

    __slots__ = ("_names", "_prefixes", "empty")

    def __init__(self, lines: Iterable[str] = (), *, source: str = "exclusions") -> None:
        """`ConfigError`, naming `source` and the line, if a line is neither name nor prefix."""
        self._names: set[str] = set()
        prefixes: dict[str, list[str]] = {}
        for number, line in enumerate(lines, 1):
            rule = line.lstrip("\ufeff") if number == 1 else line
            rule = f" {rule}".partition(" #")[0].strip()
            if not rule:
                continue
            try:
                if "://" in rule:
                    url = canonical(rule)
                    prefixes.setdefault(host_of(url), []).append(_without_scheme(url))
                else:
                    self._names.add(_name(rule))
            except UrlError as exc:
                raise ConfigError(
                    f"{source}, line {number}: {rule!r} is neither a domain nor the start of an"
                    f" http(s) URL ({exc})"
                ) from exc
        self._prefixes = {host: tuple(starts) for host, starts in prefixes.items()}
        self.empty = not (self._names or self._prefixes)
        """There are no rules: who asks for every link need not."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file of rules. `ConfigError` if it cannot be read or a line is wrong."""
        try:
            return cls(path.read_text(encoding="utf-8").splitlines(), source=str(path))
        except (OSError, UnicodeDecodeError) as exc:
            raise ConfigError(f"{path}: cannot read the exclusions: {exc}") from exc

    def become(self, other: "Exclusions") -> None:
        """Take over the rules of another list, for everyone who asks this one."""
        self._names = other._names  # noqa: SLF001 - one of us
        self._prefixes = other._prefixes  # noqa: SLF001
        self.empty = other.empty

    def __len__(self) -> int:
        """How many rules there are."""
        return len(self._names) + sum(map(len, self._prefixes.values()))

    def covers(self, url: str, host: str, site: str) -> bool:
        """Whether a canonical URL, given with its host and site, is not to be crawled."""
        names = self._names
        if names:
            if site in names or host in names:
                return True
            dot = host.find(".")
            while dot >= 0:
                if host[dot + 1 :] in names:
                    return True
                dot = host.find(".", dot + 1)
        starts = self._prefixes.get(host)
        return starts is not None and _without_scheme(url).startswith(starts)

    def rule_for(self, url: str, host: str, site: str) -> str:
        """The rule by which `covers` says yes, for people; '' if it says no."""
        labels = host.split(".")
        names = (site, host, *(".".join(labels[start:]) for start in range(1, len(labels))))
        for name in names:
            if name in self._names:
                return name
        place = _without_scheme(url)
        starts = self._prefixes.get(host, ())
        return next((start[2:] for start in starts if place.startswith(start)), "")


def _name(rule: str) -> str:
    """A host in the form canonical URLs have; a rule with a path, port or wildcard is refused."""
    if any(character in rule for character in "/:?*@ ") and not rule.startswith("["):
        raise UrlError("write a plain name; it covers everything under it")
    return host_of(canonical(f"https://{rule}/"))


def _without_scheme(url: str) -> str:
    return url[url.index("//") :]
