"""Seeds: a file of domains and URLs, read line by line.

    # comments and blank lines are skipped; so is what follows white space and a #
    example.org            -> https://example.org/, bare
    example.org/about      -> https://example.org/about, bare
    http://example.net/    -> as it is
    bücher.example         -> https://xn--bcher-kva.example/, bare

A million lines take no more memory than one: nothing is kept, so repeats are given as often as they
stand there (the frontier knows what it has seen).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mannerly.errors import UrlError
from mannerly.url.normal import canonical, host_of
from mannerly.url.parameters import ParameterRules

_SHOWN = 200
"""Characters of a bad line that are kept for the message."""
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*://|https?:)", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/?#\\]*")
_HOST = re.compile(r"[a-z0-9_.-]+|\[[0-9a-f:.]+\]")
_COMMENT = re.compile(r"(?:^|\s)#")


class Seed(NamedTuple):
    number: int
    """Line, from 1."""
    url: str
    """Canonical."""
    bare: bool
    """No scheme was given: https was assumed, and http may be tried."""


class BadLine(NamedTuple):
    number: int
    text: str
    reason: str


def read(
    lines: Iterable[str | bytes], parameters: ParameterRules | None = None
) -> Iterator[Seed | BadLine]:
    """The seeds in `lines`, and the lines that are none, in order. Never raises for a line.

    `parameters` are removed from seeds as from links, so that both are one URL.
    """
    for number, line in enumerate(lines, 1):
        if isinstance(line, bytes):
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                yield BadLine(number, line[:_SHOWN].decode("latin-1").strip(), "not UTF-8")
                continue
        else:
            text = line
        if number == 1:
            text = text.removeprefix("\ufeff")
        text = text.strip()
        if "#" in text and (comment := _COMMENT.search(text)):
            text = text[: comment.start()].rstrip()
        if not text:
            continue
        try:
            yield _seed(number, text, parameters)
        except UrlError as exc:
            yield BadLine(number, text[:_SHOWN], str(exc))


def _seed(number: int, text: str, parameters: ParameterRules | None) -> Seed:
    if _SCHEME.match(text):
        return Seed(number, canonical(text, parameters=parameters), bare=False)
    text = text.removeprefix("//")
    authority = _AUTHORITY.match(text)
    written = authority[0] if authority else ""
    if "@" in written:
        raise UrlError("an address of a person, not of a page")
    url = canonical(f"https://{text}", parameters=parameters)
    host = host_of(url)
    # The standard reads `1` as 0.0.0.1 and lets `1,example.org` pass: right for links, but in a
    # list of domains a sign that another column or file was given.
    if not _HOST.fullmatch(host) or (
        host.rpartition(".")[2].isdigit() and not written.startswith(host)
    ):
        raise UrlError("not a domain")
    return Seed(number, url, bare=True)
