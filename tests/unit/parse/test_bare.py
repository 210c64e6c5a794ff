"""What is parsed from a bare page is what is parsed from the page."""

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mannerly.parse import Parsed, html, parse_html
from mannerly.parse.bare import Bare, Left, bared
from mannerly.parse.contract import Heading
from tests.compiled import compiled_part

_NAMES = (
    "a b p div td tr table li h1 h4 pre title textarea script style iframe noscript noframes xmp"
    " svg math font input link meta base body html annotation-xml template select option plaintext"
)
NAMES = _NAMES.split()
_ATTRIBUTES = (
    "class id style href rel src type content name property hidden aria-hidden lang data-x title"
    " HREF Class onclick encoding color alt http-equiv x"
)
ATTRIBUTES = _ATTRIBUTES.split()
VALUES = st.sampled_from(
    ["x", "http://e.example/?a=1&b=2", "display:none", "Display: None", "a b", "true", "</p>", "-",
     "nofollow", "a>b", "a<b", "refresh", "description", "", "'", '"', "é", "=", "x/"]
)  # fmt: skip
BARE_VALUES = VALUES.filter(lambda value: "<" not in value)
"""Where there is one in a value without quotes, the mark before it ends the value."""
ATTRIBUTE = st.one_of(
    st.tuples(st.sampled_from(ATTRIBUTES), VALUES).map(lambda it: f' {it[0]}="{it[1]}"'),
    st.tuples(st.sampled_from(ATTRIBUTES), VALUES).map(lambda it: f"\n{it[0]} = '{it[1]}'"),
    st.tuples(st.sampled_from(ATTRIBUTES), BARE_VALUES).map(lambda it: f" {it[0]}={it[1]}"),
    st.sampled_from(ATTRIBUTES).map(lambda name: f" {name}"),
    st.sampled_from(["/", " / ", '"', "='", " =", "\f", "\v", "\0"]),
)
TAG = st.tuples(
    st.sampled_from(["<", "<", "<", "</"]),
    st.sampled_from(NAMES),
    st.lists(ATTRIBUTE, max_size=4).map("".join),
    st.sampled_from([">", ">", ">", "/>", " />", " "]),
).map("".join)
PIECE = st.one_of(
    TAG,
    TAG,
    st.sampled_from(NAMES).map(lambda name: f"</{name}>"),
    st.sampled_from(["word ", " more", "\n", "&amp;", "1 < 2", "é", "x</script >y", "a</p "]),
    st.sampled_from(
        ["<!-- c -->", "<!-->", "<!--->", "<!-- <p class='x'> --!>", "<!--", "-->", "<!doctype x>",
         "<?x y>", "</ x>", "<![CDATA[ <b class='x'> ]]>", "<!x ", "<!-- <script class=x> -->"]
    ),
    st.sampled_from(
        ["<script>a<b c='</script>", "<script><!-- <script> --></script>", "<style/>",
         "<script a=1><!-- x //--></SCRIPT\n>", "<title>a <b class='x'>b</title>"]
    ),
)  # fmt: skip
SOURCES = st.lists(PIECE, max_size=25).map(lambda it: "".join(it).encode("utf-8", "replace"))


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    compiled_part("parse._bare")


def parsed(source: bytes) -> Parsed:
    """Without the blanks in its texts: a block in the value of an attribute ends a line, unless the
    attribute is gone."""
    page = parse_html(source, "text/html; charset=utf-8", agent="test", anchors=True)
    return replace(
        page,
        text=solid(page.text),
        title=solid(page.title),
        told={name: solid(words) for name, words in page.told.items()},
        headings=[Heading(level, solid(text)) for level, text in page.headings],
        anchors={href: solid(words) for href, words in page.anchors.items()},
    )


def solid(text: str) -> str:
    return "".join(text.split())


def parsed_as_it_is(source: bytes) -> Parsed:
    with patch.object(html, "bared", lambda page: Bare(page, Left.REST)):
        return parsed(source)


@settings(max_examples=800)
@given(SOURCES)
@example(b"<p hidden class='a' =x>b")
@example(b"<a href=x class='y'/>z")
@example(b"<script title='a<b' class=x>y</script>z")
@example(b"<a title='x> <p class='y'>z</a>")
@example(b"<svg><style/><text class='x'>seen</text></svg><style>p</style>")
@example(b"<p style='DISPLAY:none'>a</p><p style='color:red'>b</p>")
@example(b"<plaintext><b class='x'>text</b>")
def test_nothing_changes(source: bytes) -> None:
    assert parsed(source) == parsed_as_it_is(source)


@settings(max_examples=200)
@given(SOURCES)
def test_it_is_shorter_and_never_fails(source: bytes) -> None:
    assert len(bared(source).source) <= len(source)
    assert bared(bared(source).source).source == bared(source).source


@pytest.mark.parametrize(
    ("source", "left", "flags"),
    [
        (b"<p class='x' id=y>a</p>", b"<p>a</p>", 0),
        (b"<p style='display:none' class=x>a", b"<p style='display:none'>a", Left.DISPLAY),
        (b"<p style='color:red'>a", b"<p>a", 0),
        (b"<p hidden class=x>a", b"<p hidden>a", Left.HIDDEN),
        (b"<p aria-hidden=true>a", b"<p aria-hidden=true>a", Left.HIDDEN),
        (b"<a class=x href='/y' data-z='1'>a</a>", b"<a href='/y'>a</a>", 0),
        (b"a<!-- <p> -->b<script>c</script>d<style>e</style >f", b"abdf", 0),
        (b"<title>a <b class='x'></title>", b"<title>a <b class='x'></title>", 0),
        (b"<br class='x'/><br/>", b"<br /><br/>", 0),
        (b"<![CDATA[ <b class='x'> ]]>", b"<![CDATA[ <b class='x'> ]]>", Left.REST),
        (b"<p class=x><!-- no end <p class=x>", b"<p><!-- no end <p class=x>", Left.REST),
        (b"<p class='no end", b"<p class='no end", Left.REST),
        (b"1 < 2 <", b"1 < 2 <", 0),
        (b"", b"", 0),
    ],
)
def test_what_is_left(source: bytes, left: bytes, flags: int) -> None:
    assert bared(source) == (left, flags)


@pytest.mark.parametrize("wrong", [None, "text", 3])
def test_other_types_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError):
        bared(wrong)  # type: ignore[arg-type]
