"""A text's print at a third of the price: compiled where there was a C compiler at installation
(`_textprint.c`), else as `mannerly.parse.simhash` has it. The results are the same.

Every page that is read is compared with those read before, so this is part of what every page
costs.
"""

from xxhash import xxh3_64_intdigest

from mannerly.parse import simhash
from mannerly.parse.simhash import MAX_CHARS, TextPrint

try:
    from mannerly.engine._textprint import printed as _printed
except ImportError:

    def _printed(text: str, limit: int, /) -> tuple[int, bytes] | None:
        return None


def text_print(text: str) -> TextPrint:
    """What is kept of a text to know it again."""
    found = _printed(text, MAX_CHARS)
    if found is None:
        # Not compiled; or capitals whose lower case only Python knows (a final sigma).
        return simhash.text_print(text)
    digest: int = xxh3_64_intdigest(found[1])
    return TextPrint(found[0], digest - 2**64 if digest >= 2**63 else digest)
