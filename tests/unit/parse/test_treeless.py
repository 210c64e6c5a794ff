"""What is read without a tree is what is read of the tree."""

from types import ModuleType
from unittest.mock import patch

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from mannerly.parse import Heading, Parsed, html, parse_html
from mannerly.parse.contract import TOLD
from mannerly.parse.treeless import read_treeless
from tests.compiled import compiled_part


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> ModuleType:
    return compiled_part("parse._treeless")


def is_read(source: bytes) -> bool:
    return read_treeless(source, "test", 5_000) is not None


def parsed(source: bytes) -> Parsed:
    return parse_html(source, "text/html; charset=utf-8", agent="test")


def of_the_tree(source: bytes) -> Parsed:
    with patch.object(html, "read_treeless", lambda *_: None):
        return parsed(source)


@pytest.mark.parametrize(
    "source",
    [
        "<title>a &amp; b</title><p>one<p>two",
        "<html lang=de><head><meta name=description content='x &lt; y'></head><h1>H</h1>",
        "<html><html lang=en xml:lang=fr><html lang=de>",
        "<head><noscript><link rel=canonical href=/c></noscript><title>t</title></head>x",
        "</head><noscript><p>no</p></noscript>yes",
        "a<i aria-hidden=true>no</i>b<div hidden><ul><li>no</li></ul></div>c",
        "a<div style='x: y; Display: None'><form><input><button>no</button></form></div>b",
        "<h2>He<b>ad</b><span hidden>no</span></h2><h2 hidden>no</h2>text",
        "<table><caption>c</caption><thead><tr><th>h<tbody><tr><td>a<td>b</table>after",
        "<table><tr><td><table><tr><td>in</td></tr></table></td></tr></table>",
        "<table><form><tr><td><input>a</td></tr></form></table>b",
        "<svg aria-hidden=true><title>no</title><path d=x /></svg>a<svg><text>t</text></svg>",
        "<select><option selected>a<option>b</select>c<textarea>t &amp; u</textarea>",
        "<div hidden><select><option>a</select><table><tr><td>b<th>c</table></div>d",
        "<table hidden><tr><td><p>a</p></table>b<table><td><div hidden>a</div></table>",
        "<pre>a\n<a href='x\ny'>b</a>\n</pre>c<pre>\nnever ends",
        "<a href=x rel=nofollow>a</a><a href=x>b</a><a href='y&amp;z'>c</a><a href=y&z=1>d</a>",
        "<a href='&notit;'>a</a><a href=&not;>b</a>&notit; &AMP &#65;&#x42 &#; & &nosuch;",
        "<iframe src=/f>no</iframe>a<area href=/a><base href=/b><link rel=next href=/n>",
        "<!-- no -->a<!-->b<!doctype x>c<?d>e</ f>g<!-- <p> --!>h 1 < 2 <3",
        "<body><title>in the body</title><body lang=x>",
        "a &hellip;&fjlig;&nGt;&copy;&copy",
        "<meta name=' ROBOTS\n' content=noindex><meta name=Test content=nofollow>",
        "<meta name='' property=OG:Title content=t><meta name=x property=og:url content=no>",
        "<meta name=&#114;obots content=noindex><meta name=test2 content=noindex>",
        "<meta name=viewport http-equiv=Refresh content='0;url=r'><meta charset=utf-8>",
        "<meta name=\u212aey content=x><meta name=description><meta name=description content=d>",
        "<link rel='Shortcut CANONICAL' href=/c><link rel=stylesheet href=/s><link href=/n>",
        "<link rel=&#110;ext href=/n><link rel='alternate stylesheet' href=/a>",
        "<link rel=PREV href=p><link rel=icon href=/i><link rel='x &#110;ext' href=/y>",
        "<meta content=a content=b NAME=description name=robots>",
    ],
)
def test_takes_no_tree(source: str) -> None:
    assert is_read(source.encode())
    assert parsed(source.encode()) == of_the_tree(source.encode())


ENDS = " \n\t\f/>=\x01\x1f!\x7f\u00e9-_:."
"""What ends a name, and what may be part of one."""


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("tail", range(10))
def test_names_end_where_they_end(end: str, tail: int) -> None:
    """Eight characters are looked at at once: wherever in them a name ends, and the source."""
    behind = f"{end}>"[: 1 + (end != ">")] + "x" * tail
    read = 0
    for name in ("p", "P", "Td", "SPAN", "STYLE", "Script", "section", "TEXTAREA", "figcaption"):
        for source in (
            f"a<b>{name}</b><{name}{behind}",
            f"<i hidden>no</i{end}>yes<{name}>z</{name}{behind}",
            f"<A HREF{end}=/one>1</A><a {name}{end}='2' hReF=/two {name}>2</a>{'x' * tail}",
            f"<a href{end}/three>3</a><a xhref{end}=4 href5{end}=5>5</a>{'x' * tail}",
        ):
            if is_read(source.encode()):
                read += 1
                assert parsed(source.encode()) == of_the_tree(source.encode()), source
    assert read > 5


@pytest.mark.parametrize("length", range(20))
def test_links_are_what_was_written(length: int) -> None:
    for odd in ("", "&amp;", "&", "\u00e9", "\n", "\f", "\x01", "\x7f", " "):
        for at in range(length + 1):
            href = "x" * at + odd + "x" * (length - at)
            source = f"<a href='{href}'>1</a><a rel=ugc href='{href}'>2</a><pre><a href='{href}'>3"
            for max_links in (1, 5_000):
                with_pre = f"{source}</a></pre>".encode()
                read = read_treeless(with_pre, "test", max_links)
                tree = of_the_tree(with_pre)
                assert read is not None
                if max_links > 1:
                    assert read.page.links == tree.links
                else:
                    assert list(read.page.links) == list(tree.links)[:1]


@pytest.mark.parametrize(
    "source",
    [
        "<table>moved<tr><td>a</table>",
        "<table><a href=x>moved</a><tr><td>a</table>",
        "<table><table>a",
        "<div hidden>no<p>no</div>never closed <div hidden>",
        "<b hidden><p>no</b>no</p>",
        "<p>a<span hidden><div>out of it</div></span>",
        "<div hidden><li><div><li>no</li></div></li></div>",
        "<h1>a<h2>b</h2>",
        "<table><td><div hidden>no<td>out of it</table>",
        "<div hidden><table><td><b>no<td>b</table></div>",
        "<h1><b>a</h1>b",
        "<a>x<h1><a>y</a></h1>",
        "<template>no</template>a",
        "<math><mi>x</math>",
        "<svg><p>out of it</svg>",
        "<frameset><frame src=a></frameset>",
        "<head><noscript><img></noscript><title>in the body</title>",
        "<select><p>a</select>",
        "<title>a <b>b</title>",
        "<script><!-- <script> --></script> a </script>b",
        "<p style=x style='display:none'>a",
        "<p class='no end",
        "<!-- no end",
        "nul \0",
        "&#128; &#0;",
        "<br>" * 10_001,
        "<p" + " a" * 256 + ">x",
        "<p " * 40_000,
    ],
)
def test_takes_a_tree(source: str) -> None:
    assert not is_read(source.encode())


def test_bytes_that_are_not_utf8_take_a_tree() -> None:
    assert not is_read(b"<p>a\xff")
    assert not is_read(b"<a href='a\xff'>")


# Few names and many pairs, so that a good part of what is made needs no tree.
VOID = ("br", "hr", "img", "input", "link", "meta", "area", "base", "col")
RAW = ("title", "textarea", "script", "style", "iframe")
NAMES = st.sampled_from(
    ["a", "b", "i", "em", "span", "font", "p", "div", "section", "td", "th", "tr", "table", "tbody",
     "thead", "caption", "li", "ul", "dl", "dt", "h1", "h2", "pre", "noscript", "svg", "path", "g",
     "circle", "select", "option", "button", "form", "label", "nobr", "ruby", "object", "x-y", "P",
     "Div", "html", "head", "body", "search", "image", "template", "details"]
)  # fmt: skip
ATTRIBUTES = st.sampled_from(
    ["class=x", "hidden", "aria-hidden=true", 'aria-hidden="false"', 'style="display:none"',
     'style="color:red; DISPLAY: none"', "href=u1", 'href="u2?a=1&b=2"', "href='u3&amp;x'",
     'href="u\n4"', "rel=nofollow", 'rel="noopener ugc"', "lang=en", "xml:lang=fr", "src=f",
     'name=description content="some words"', "rel=canonical", "rel=alternate", "/", 'id="a>b"',
     'data-x="<p>"', "HREF=U5", "name=robots content=noindex", 'property="og:title" content=t',
     'http-equiv=refresh content="0;url=r"', "style=x", "hidden=''"]
)  # fmt: skip
TAILS = st.lists(ATTRIBUTES, max_size=2).map(lambda it: "".join(f" {one}" for one in it))
TEXTS = st.sampled_from(
    ["word ", "more", "\n", " ", "&amp;", "&nbsp;", "&copy", "1 < 2", "é", "&#65;", "&#x42;",
     "&nosuch;", "&notit;", "x&y=1", "\f", "&hellip;", "&#10;", "<!-- c -->", "<!doctype x>",
     "</ x>", "\v", "a\r\nb"]
)  # fmt: skip
LEAVES = st.one_of(
    TEXTS,
    st.tuples(st.sampled_from(VOID), TAILS).map(lambda it: f"<{it[0]}{it[1]}>"),
    st.tuples(st.sampled_from(RAW), TAILS, st.sampled_from(["x", "", "y&amp;z"])).map(
        lambda it: f"<{it[0]}{it[1]}>{it[2]}</{it[0]}>"
    ),
    NAMES.map(lambda name: f"</{name}>"),
)


def element(parts: tuple[str, str, list[str], bool]) -> str:
    name, tail, inner, closed = parts
    return f"<{name}{tail}>{''.join(inner)}" + (f"</{name}>" if closed else "")


SOURCES = st.lists(
    st.recursive(
        LEAVES,
        lambda inner: st.tuples(
            NAMES, TAILS, st.lists(inner, max_size=4), st.sampled_from([True, True, True, False])
        ).map(element),
        max_leaves=12,
    ),
    max_size=5,
).map(lambda it: "".join(it).encode())


@settings(max_examples=400)
@given(SOURCES)
@example(b"<p>a<span hidden>b<p>c</span>d")
@example(b"<a><table><td><a></a></table><span hidden>x<a>y</a></span>z")
@example(b"<table><td>a</th>b</tbody>c</table>d")
@example(b"<div><td hidden>x</div>y")
def test_there_is_no_difference(source: bytes) -> None:
    event("without a tree" if is_read(source) else "with a tree")
    assert parsed(source) == of_the_tree(source)


@pytest.mark.parametrize("wrong", [None, "text", 3])
def test_other_types_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError):
        compiled_part("parse._treeless").read(wrong, {}, 5, print, Heading, "test", {}, TOLD)
    with pytest.raises(TypeError, match="tuple"):
        compiled_part("parse._treeless").read(b"", {}, 5, print, dict, "test", {}, TOLD)


def test_what_the_listener_raises_is_raised() -> None:
    def see(tag: str, attributes: dict[str, str]) -> None:
        raise ValueError(tag, attributes)

    with pytest.raises(ValueError, match="meta"):
        compiled_part("parse._treeless").read(
            b"<meta name=robots content=a>", {}, 5, see, Heading, "test", {}, TOLD
        )
