"""Plain text and its relatives: nothing but text to find in them."""

from mannerly.parse.charset import to_text
from mannerly.parse.contract import Parsed

MAX_TEXT = 1_000_000


def parse_text(body: bytes, content_type: str, *, max_text: int = MAX_TEXT) -> Parsed:
    """The text, its lines kept, trailing white space and control characters dropped."""
    # No encoding takes more than four bytes for a character.
    charset, text = to_text(body[: 4 * max_text], content_type)
    lines = (line.rstrip() for line in text.replace("\0", "").splitlines())
    return Parsed(charset=charset, text="\n".join(lines)[:max_text].strip("\n"))
