"""How deeply elements are nested, where `_blocks.c` could not be compiled: ten times the time."""

import re

_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)(/>)?")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_IMPLIED_END = frozenset(
    b"p li dd dt option optgroup tr td th tbody thead tfoot colgroup caption rp rt".split()
)
_LEAVES_SVG = frozenset(
    b"body br center div dl dd dt em h1 h2 h3 h4 h5 h6 head hr i img li menu meta nobr ol p pre"
    b" ruby s small span strong strike sub sup table tt u ul var".split()
)


def shallow(body: bytes, deepest: int, /) -> int:
    """How far `body` goes before more than `deepest` elements are nested.

    An estimate that may be off by the few levels a table row adds, but cannot be talked down: an
    end tag counts only where it closes the innermost element, or one of those whose end is implied.
    """
    open_elements: list[bytes] = []
    in_svg = False
    for tag in _TAG.finditer(body):
        end, name, self_closing = tag.groups()
        name = name.lower()
        if name in _VOID:
            continue
        if end:
            top = len(open_elements) - 1
            while top >= 0 and open_elements[top] != name and open_elements[top] in _IMPLIED_END:
                top -= 1
            if top >= 0 and open_elements[top] == name:
                del open_elements[top:]
                in_svg = in_svg and name != b"svg"
            continue
        if name == b"svg":
            in_svg = True
        elif name in _LEAVES_SVG:
            in_svg = False
        if self_closing and in_svg:
            continue
        if name in _IMPLIED_END:
            while open_elements and open_elements[-1] in _IMPLIED_END:
                open_elements.pop()
        open_elements.append(name)
        if len(open_elements) > deepest:
            return tag.start()
    return len(body)
