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
    slots: array[int] | bytes = b"",
    /,
) -> tuple[int, list[Link]]: ...
def short_digest(data: bytes, /) -> int | None: ...
