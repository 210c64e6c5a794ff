"""How much of a document is parsed, and how much of it at once.

A tree takes hundreds of bytes for each tag and each attribute, and Lexbor keeps names that HTML
does not know in a table of 128 lists. What was measured with one MiB of each:

- `<p>` over and over: 113 MB and 1.2 s.
- `<p a b c d ...>`: 118 MB.
- attributes of which no two have the same name: 13 s, and four times that for twice the size.
- a single tag with 100,000 attributes, each compared with all before it: over 20 s.

So a document with many tags is parsed in pieces, one after the other, and only the end of one with
eight times as many is left out. Text is never too long for this: a book of two MiB is parsed whole,
and so are nearly all pages. The counts are upper bounds, taken without telling a tag from one in a
script or a comment, so nothing can be arranged in a document to be overlooked.
"""

import re
from collections.abc import Iterator

from mannerly.parse.blocks import MARK, Marked
from mannerly.parse.blocks_plain import HIDDEN_END

try:
    from mannerly.parse._blocks import most_words as _most_words
except ImportError:

    def _most_words(source: bytes, /) -> int:
        """A bound that takes no time: it is looked at closely."""
        return len(source)


MAX_TAGS = 40_000
"""Of a piece: `<` characters, which are start tags, end tags, comments. Up to 25 MB."""
MAX_PIECES = 8
"""About a second, if all of them are hostile."""
MAX_WORDY = 4
"""Of the pieces, those that end because of the next two bounds: they cost most."""
MAX_ATTRIBUTES = 100_000
"""Words in tags, where an attribute could begin. About 25 MB, if all of them are attributes."""
MAX_NAMES = 30_000
"""Distinct words in tags, of which each could be a name. A tenth of a second, if all are."""

_MANY_ATTRIBUTES = re.compile(
    rb"<[a-zA-Z](?:[^\s/>]{256}"
    rb"|[^\s/>]*+(?:[\s/]*+[^\s/>](?:[^\s/>=]{512}"
    rb"|[^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'](?:[^\s>]{4096}|[^\s>]*+))|)"
    rb")){256})"
)
"""A start tag with 256 attributes, wherever a tag could start; or with a name or bare value longer
than any honest one, because only bounded pieces keep this search itself linear."""
_IN_TAG = re.compile(rb"<[a-zA-Z][^>]*+")

_LONG_TAG = 4 * 1024
"""With shorter ones, attributes cost at most a third of a second in a MiB of tags."""
_SMALL = 128 * 1024
"""Fewer bytes cannot hold so many names that it matters."""
_PORTION = 32 * 1024
_BLANKS = bytes.maketrans(b"\t\n\f\r/", b"     ")
_SEPARATORS = bytes.maketrans(b"\t\n\f\r/>=", b"       ")


def pieces(whole: Marked) -> Iterator[bytes]:
    """A document in pieces that are each within bounds. What comes behind a tag that is out of
    bounds by itself is left out.

    A piece ends where a block does, if it has any: a piece of a table has its rows and words, as
    HTML keeps what is in a cell without a table.
    """
    body, tags = whole.source, whole.tags
    if whole.longest > _LONG_TAG:
        body = body[: _first_long_tag(body)]
    start = wordy_ones = 0
    for _ in range(MAX_PIECES):
        end = len(body)
        if tags > MAX_TAGS:
            rest = body[start:].split(b"<", MAX_TAGS)[-1]
            end = _block_end(body, start, len(body) - len(rest) - 1)
        if end - start > _SMALL and _most_words(body[start:end]) > MAX_NAMES:
            wordy = start + _wordy(body[start:end])
            if wordy < end:
                end = _block_end(body, start, wordy)
                wordy_ones += 1
        yield body[start:end]
        if end in (start, len(body)) or wordy_ones == MAX_WORDY:
            return
        tags -= body.count(b"<", start, end)
        start = end


def _block_end(body: bytes, start: int, limit: int) -> int:
    """Behind the last mark between the two, if it is not in a tag (one of preformatted text may go
    over two lines); else where a tag begins behind a mark; `limit`, which is a tag, if none does.
    """
    at = body.rfind(MARK, start + 1, limit) + 1
    if at and body.find(b"<", at) < body.find(b">", at):
        return at
    return body.rfind(MARK + b"<", start + 1, limit) + 1 or limit


def _first_long_tag(body: bytes) -> int:
    """Where the first tag with too many attributes begins; the end of `body` if there is none.

    A long tag shows no `>` for long, but for those in quotes. Only such stretches are looked at: to
    look at every tag takes as long as to parse them.
    """
    pieces = HIDDEN_END.sub(lambda hidden: b"=" * len(hidden[0]), body).split(b">")
    if max(map(len, pieces)) > _LONG_TAG:
        at = 0
        for piece in pieces:
            end = at + len(piece)
            if len(piece) > _LONG_TAG and (found := _MANY_ATTRIBUTES.search(body, at, end)):
                return found.start()
            at = end + 1
    return len(body)


def _wordy(body: bytes) -> int:
    """Where the tags of `body` have had more words, or more distinct ones, than they may."""
    attributes = 0
    names: set[bytes] = set()
    spare = MAX_NAMES
    open_ended = HIDDEN_END.sub(lambda hidden: hidden[0].replace(b">", b"="), body)
    start = 0
    while start < len(body):
        end = open_ended.find(b">", start + _PORTION) + 1 or len(body)
        tags = b" ".join(_IN_TAG.findall(open_ended, start, end))
        attributes += len(tags.translate(_BLANKS).split()) + _quotes(tags) // 2
        new = set(tags.translate(_SEPARATORS).split()) - names
        names |= new
        # A quote can end a value or be part of a name, so a word with quotes can be several names.
        spare -= len(new) + _quotes(b"".join(new))
        if attributes > MAX_ATTRIBUTES or spare < 0:
            return start
        start = end
    return len(body)


def _quotes(text: bytes) -> int:
    return text.count(b'"') + text.count(b"'")
