"""Which encoding a body is in.

The order of the WHATWG standards: byte order mark, `Content-Type` header, `<meta>` in the first
1,024 bytes. Where nothing is declared: UTF-8 if the bytes are UTF-8, else what a detector says of
their text, else windows-1252. The detector costs more than parsing the page, so it is asked only
about the few pages that neither say what they are nor are UTF-8, and about a few kilobytes of them.
"""

import re
from functools import lru_cache

from mannerly.parse.encodings import decoded, name_of_codec, named

_USUAL_TYPE = 100
_PRESCAN = 1024
_LATE = 16 * 1024
_SEARCHED = 64 * 1024
_SAMPLE = 4 * 1024
_SURE = 0.2
"""Below, a word or two of French may be anything."""
_FALLBACK = "windows-1252"
_BOMS = (
    (b"\xef\xbb\xbf", "UTF-8"),
    (b"\xfe\xff", "UTF-16BE"),
    (b"\xff\xfe", "UTF-16LE"),
)
_SPACE = b"\t\n\f\r "
_PARAMETER = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"?|([^\s;]*))", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*(?:\"([^\">]*)\"|'([^'>]*)')")
_IN_CONTENT = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*))",
    re.IGNORECASE,
)


def to_utf8(body: bytes, content_type: str) -> tuple[str, bytes]:
    """The name of the encoding of a HTML body, and the body in UTF-8, without byte order mark.

    A body that is UTF-8 is given back as it is; bytes in it that are not valid are left to the
    HTML parser, which replaces them.
    """
    name, body = _identified(body, content_type, html=True)
    if name == "UTF-8":
        return name, body
    return name, decoded(body, name).encode("utf-8", "replace")


def to_text(body: bytes, content_type: str) -> tuple[str, str]:
    """The name of the encoding of a plain text, and the text. Never raises."""
    name, body = _identified(body, content_type, html=False)
    return name, decoded(body, name)


def _identified(body: bytes, content_type: str, *, html: bool) -> tuple[str, bytes]:
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name, body[len(bom) :]
    name = declared_in_header(content_type) or (declared_in_html(body) if html else "")
    if not name:
        name = "UTF-8" if _is_utf8(body) else _detected(body)
    return name, body


def load_detector() -> None:
    """Load what guesses encodings: 27 MiB, better taken at the start of a crawl than in the middle,
    when a server decides."""
    import chardet  # noqa: PLC0415 - takes longer to load than all else, and few commands need it

    chardet.detect(b"\xe9")


def _detected(body: bytes) -> str:
    """What the text around the bytes that are not ASCII looks like."""
    pieces = [
        piece.rpartition(b">")[2] for piece in body[:_SEARCHED].split(b"<") if not piece.isascii()
    ]
    sample = b" ".join(pieces)[:_SAMPLE]
    if sample.isascii():
        return _FALLBACK  # in attributes only, or far down
    import chardet  # noqa: PLC0415 - takes longer to load than all else, and few crawls need it

    eras = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO
    guess = chardet.detect(sample, encoding_era=eras)
    if (guess["confidence"] or 0.0) < _SURE:
        return _FALLBACK
    found = guess["encoding"] or ""
    name = named(found) or name_of_codec(found)
    # That it is none of those was seen before: there is no byte order mark, and it is not UTF-8.
    return name if name and not name.startswith("UTF-") else _FALLBACK


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as exc:
        # A body that was cut at the byte limit may end within a character; but a lone `é` of
        # another encoding at the very end looks the same, so there must be others before.
        cut = exc.end == len(body) and exc.reason == "unexpected end of data"
        return cut and not body[: exc.start].isascii()
    return True


def declared_in_header(content_type: str) -> str:
    """The encoding that a `Content-Type` names, '' if none that is known."""
    usual = len(content_type) <= _USUAL_TYPE
    return _in_header(content_type) if usual else _in_header.__wrapped__(content_type)


@lru_cache(maxsize=256)
def _in_header(content_type: str) -> str:
    """There are few that are in use, and few are remembered."""
    found = _PARAMETER.search(content_type)
    return named(found[1] or found[2] or "") if found else ""


def declared_in_html(body: bytes) -> str:
    """The encoding that the beginning of a HTML document names: the standard's prescan.

    Browsers start anew when they meet a `<meta>` further down; that is looked for here as well, in
    a document that has said nothing by then.
    """
    return _declared_within(body[:_PRESCAN]) or _declared_within(body[:_LATE])


def _declared_within(head: bytes) -> str:
    lower = head.lower()
    name = ""
    if b"charset" in lower and b"<meta" in lower:
        name = _prescan(head)
    if not name and head.startswith(b"<?xml"):
        found = _XML_ENCODING.match(head)
        name = named((found[1] or found[2] or b"").decode("latin-1")) if found else ""
    return _as_declared(name)


def _as_declared(name: str) -> str:
    """What was read as ASCII cannot be UTF-16 (the standard's own corrections)."""
    if name.startswith("UTF-16"):
        return "UTF-8"
    return "windows-1252" if name == "x-user-defined" else name


def _prescan(head: bytes) -> str:
    at = 0
    while (at := head.find(b"<", at)) >= 0:
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2)
            if end < 0:
                return ""
            at = end + 3
            continue
        if head[at : at + 5].lower() == b"<meta" and head[at + 5 : at + 6] in _META_NEXT:
            at, attributes = _attributes(head, at + 5)
            if name := _declared_in_meta(attributes):
                return name
        elif head[at + 1 : at + 2].isalpha() or (
            head.startswith(b"</", at) and head[at + 2 : at + 3].isalpha()
        ):
            at += 1
            while at < len(head) and head[at] not in b"\t\n\f\r >":
                at += 1
            at, _ = _attributes(head, at)
        elif head[at + 1 : at + 2] in _BOGUS_NEXT:
            at = head.find(b">", at)
            if at < 0:
                return ""
        else:
            at += 1
    return ""


_META_NEXT = frozenset((b"\t", b"\n", b"\f", b"\r", b" ", b"/"))
_BOGUS_NEXT = frozenset((b"!", b"/", b"?"))


def _declared_in_meta(attributes: dict[bytes, bytes]) -> str:
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        found = _IN_CONTENT.search(attributes.get(b"content", b""))
        label = found and (found[1] or found[2] or found[3])
    return named(label.decode("latin-1")) if label else ""


def _attributes(head: bytes, at: int) -> tuple[int, dict[bytes, bytes]]:
    """The attributes of a tag, the first of each name, and where they end.

    At the end of what is scanned there is no whole attribute any more, so nothing is declared.
    """
    found: dict[bytes, bytes] = {}
    end = len(head)
    while True:
        while at < end and head[at] in b"\t\n\f\r /":
            at += 1
        if at >= end or head[at] == 0x3E:
            return (at, found) if at < end else (at, {})
        start = at
        while at < end and (at == start or head[at] != 0x3D) and head[at] not in b"\t\n\f\r />":
            at += 1
        name = head[start:at].lower()
        while at < end and head[at] in _SPACE:
            at += 1
        value = b""
        if at < end and head[at] == 0x3D:
            at += 1
            while at < end and head[at] in _SPACE:
                at += 1
            if at < end and head[at] in b"\"'":
                close = head.find(head[at : at + 1], at + 1)
                if close < 0:
                    return end, {}
                value = head[at + 1 : close]
                at = close + 1
            else:
                start = at
                while at < end and head[at] not in b"\t\n\f\r >":
                    at += 1
                value = head[start:at]
        found.setdefault(name, value)
