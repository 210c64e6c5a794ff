"""What `_links.c` does, where nobody could compile it. Every reference is asked of the parser."""

from array import array
from collections.abc import Callable
from typing import TypeVar

Link = TypeVar("Link", bound=tuple[str, int, str])


def walk(
    hrefs: list[str],
    found: dict[str, Link],
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
    /,
) -> None:
    """Puts into `found` by URL what each of `hrefs` leads to, at most `max_links`, and into
    `positions` where it stood."""
    for position, href in enumerate(hrefs):
        link = closely(href)
        if link is None or link[0] in found:
            continue
        found[link[0]] = link
        if positions is not None:
            positions.append(position)
        if len(found) >= max_links:
            break


def others(links: list[Link], slots: "array[int]", /) -> list[Link]:
    """Those whose hash is not at its place among `slots`, of which there are a power of two."""
    mask = len(slots) - 1
    return [link for link in links if slots[link[1] & mask] != link[1]]
