"""A page that is read without a tree.

Of the tree that the HTML standard makes of a page, little is read here: its text, its links, a few
facts. On most pages all of that can be told from the tags one by one, at a sixth of the price: the
order of the text and of the links is that of the source, but where a table moves something out of
itself. What matters of the nesting is how far a hidden element or a heading goes, and in nearly all
pages it goes to its end tag.

So one pass reads the tags (`_treeless.c`), and gives up on any page of which it cannot be sure that
a tree would say the same: words between the cells of a table, a hidden element that is not closed,
templates, frames, formulas, thousands of tags. Those are left to the tree, as all pages are where
there was no C compiler. docs/decisions/0017 has what was measured.
"""

from collections.abc import Callable
from typing import NamedTuple

from mannerly.parse.contract import TOLD, Heading, Href, Parsed
from mannerly.parse.facts import Attributes, PageFacts
from mannerly.quick import quick

try:
    from mannerly.parse._treeless import read as _read
except ImportError:

    def _read(
        source: bytes,
        links: dict[str, Href | None],
        max_links: int,
        see: Callable[[str, Attributes], None],
        heading: type[Heading],
        agent: str,
        told: dict[str, str],
        names: frozenset[str],
        /,
    ) -> tuple[str, dict[str, str], list[str], list[Heading]] | None:
        return None


@quick
class Read(NamedTuple):
    page: Parsed
    """Without its text, language and charset."""
    raw: str
    """The text as `blocks` has it: with a form feed wherever a line ends."""
    root: dict[str, str]
    """The attributes of `<html>`."""


def read_treeless(source: bytes, agent: str, max_links: int) -> Read | None:
    """What is in a page in UTF-8; None if it takes a tree to tell."""
    page = Parsed()
    facts = PageFacts(page, agent, max_links)
    read = _read(source, page.links, max_links, facts.see, Heading, agent.lower(), page.told, TOLD)
    if read is None:
        return None
    raw, root, titles, page.headings = read
    for title in titles:
        facts.read_title(title)
    return Read(page, raw, root)
