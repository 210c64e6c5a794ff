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
) -> None: ...
def others(links: list[Link], slots: array[int], /) -> list[Link]: ...
