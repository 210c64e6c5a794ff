"""Who takes part in a crawl from inside its process: reads pages as they are parsed, and is given
them when they are settled.

A consumer is called on the engine's own thread and must not block it. It never holds up a
checkpoint: when it is behind, no further visit is started, and that is all.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from mannerly.parse.encodings import decoded
from mannerly.store.contract import Rows


@dataclass(frozen=True, slots=True)
class Response:
    """A page that is about to be stored, as the server sent it, with what parsing made of it."""

    url: str
    status: int
    headers: dict[str, str]
    """Names in lower case; of one that was sent several times, all values, joined by commas."""
    content: bytes
    """The body, without its content encoding; cut at --body-limit."""
    charset: str
    """WHATWG name of the encoding that was used."""
    title: str
    text: str
    """Visible text."""
    language: str

    @property
    def html(self) -> str:
        """The body as text. Decoded each time it is asked for."""
        return decoded(self.content, self.charset)


class Consumer(Protocol):
    @property
    def extracts(self) -> bool:
        """Whether `extract` wants to be asked."""

    def extract(self, response: Response) -> str:
        """What is to be stored with the page, as JSON; '' for nothing. `ExtractError` stops the
        crawl, and leaves the page unsettled."""

    def settled(self, rows: Rows, refused: Collection[int]) -> None:
        """A checkpoint's rows are durable and count, but for those of the refused tokens."""

    @property
    def behind(self) -> bool:
        """Start no further visit for now."""


class Nobody:
    """A crawl that nobody takes part in."""

    extracts = behind = False

    def extract(self, response: Response) -> str:
        return ""

    def settled(self, rows: Rows, refused: Collection[int]) -> None:
        pass


NOBODY = Nobody()
