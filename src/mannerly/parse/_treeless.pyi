from collections.abc import Callable

from mannerly.parse.contract import Heading, Href
from mannerly.parse.facts import Attributes

def read(
    source: bytes,
    links: dict[str, Href | None],
    max_links: int,
    see: Callable[[str, Attributes], None],
    heading: type[Heading],
    agent: str,
    told: dict[str, str],
    names: frozenset[str],
    /,
) -> tuple[str, dict[str, str], list[str], list[Heading]] | None: ...
