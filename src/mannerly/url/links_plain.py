"""What `_links.c` does, where nobody could compile it. Every reference is asked of the parser."""

from array import array
from collections.abc import Callable
from typing import TypeVar

Link = TypeVar("Link", bound=tuple[str, int, str])


def walk(
    hrefs: list[str],
    closely: Callable[[str], Link | None],
    origin: str,
    directory: str,
    site: str | None,
    origins: dict[str, str],
    strip: Callable[[str], str] | None,
    made: type[Link],
    digest: Callable[[bytes], int],
    max_length: int,
    max_links: int,
    positions: list[int] | None,
    slots: "array[int] | bytes" = b"",
    /,
) -> tuple[int, list[Link]]:
    """How many URLs `hrefs` lead to, at most `max_links`, and those whose hash is not at its place
    among `slots`; where each stood goes into `positions`."""
    met: set[int] = set()
    links: list[Link] = []
    mask = len(slots) - 1
    for position, href in enumerate(hrefs):
        link = closely(href)
        if link is None or link[1] in met:
            continue
        met.add(link[1])
        if not slots or slots[link[1] & mask] != link[1]:
            links.append(link)
        if positions is not None:
            positions.append(position)
        if len(met) >= max_links:
            break
    return len(met), links
