"""The pattern of a URL: what it has in common with others that the same program made.

    https://example.org/2024/05/post-17.html   ->  example.org/0/0/post-0.html
    https://example.org/u/7f3a9c/photos?page=3 ->  example.org/u/*/photos?page
    https://example.org/maze/a/b/b/a/          ->  example.org/maze/a/b/…/

Numbers and ids are folded, a path segment that occurred before is left out, of a query the names
remain, in order. The scheme is no part of it.
"""

import re

from mannerly.url.normal import host_of, path_of

try:
    from mannerly.url._patterns import folded as _folded
except ImportError:

    def _folded(shape: str, /) -> str | None:
        return None


_NUMBERED = re.compile(r"[0-9A-Za-z]*[0-9][0-9A-Za-z]*")
_COUNTED = re.compile(r"([A-Za-z]*)[0-9]+")
_LONGEST = 200


def pattern_of(url: str) -> str:
    """Of a canonical URL; at most 200 characters."""
    path, mark, query = path_of(url).partition("?")
    segments = path[1:].split("/")
    if len(segments) > 2:
        distinct = list(dict.fromkeys(segments[:-1]))
        if len(distinct) < len(segments) - 1:
            distinct.append("\u2026")
        if segments[-1] not in distinct:
            distinct.append(segments[-1])
        segments = distinct
    shape = f"{host_of(url)}/{'/'.join(segments)}"
    if mark:
        names = {part.partition("=")[0] for part in query.split("&")}
        shape += "?" + "&".join(sorted(names))
    folded = _folded(shape)
    return (folded if folded is not None else folded_plain(shape))[:_LONGEST]


def folded_plain(shape: str) -> str:
    """What `_patterns.c` does, where it cannot."""
    return _NUMBERED.sub(_fold, shape)


def _fold(match: re.Match[str]) -> str:
    counted = _COUNTED.fullmatch(match[0])
    return f"{counted[1]}0" if counted else "*"
