from collections.abc import Callable

from mannerly.parse.contract import Href
from mannerly.parse.facts import Attributes

def read(
    source: bytes,
    links: dict[str, Href | None],
    max_links: int,
    see: Callable[[str, Attributes], None],
    /,
) -> tuple[str, dict[str, str], list[str], list[tuple[int, str]]] | None: ...
