"""The compiled form of `blocks` and the plain one are the same function."""

from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mannerly.parse import blocks_plain, crop, defuse_plain
from mannerly.parse.blocks import Seen, lines, marked
from tests.compiled import compiled_part

WORDS = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font g i img input ins kbd label link"
    " mark meta nobr path q rb rp rt ruby s samp script small span strike strong style sub sup svg"
    " time tt u use var wbr p div li td h1 h3 h4 h6 h7 pre iframe frame noscript noframes noembed"
    " prefix styles noscripts x-y acronyms hr h"
)
NAMES = WORDS.split()
PIECES = st.one_of(
    st.sampled_from(["<", "</", ">", "/>", " ", "\n", "\t", "\f", "\v", '"', "'", "=", "<!--"]),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES).map(lambda name: f"<{name}>"),
    st.sampled_from(NAMES).map(lambda name: f"</{name.upper()}>\n"),
    st.sampled_from(["b", "code", "FONT"]).map(lambda name: f"<{name} a=1 b='2'>x</{name}>"),
    st.sampled_from(
        ["<span>", "<span a>", "</span>", "<b a", "<i ", "</b>", "</i>", " a=", "<b a=b>"]
    ),
    st.sampled_from(NAMES).map(lambda name: f"<{name} class='it is \"so\"' id=b>"),
    st.text(max_size=5),
)
SOURCES = st.lists(PIECES, max_size=40).map(
    lambda pieces: "".join(pieces).encode("utf-8", "replace")
)
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(["\f", " ", "  ", "\n", "\xa0", "\u3000", "\u2003", "\x1c", "\x85"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        st.sampled_from(["word", "\u2028", "\u205f", "\u1680", "\u00c2", "\u3001", "\x01"]),
    ),
    max_size=40,
).map("".join)


@pytest.fixture(scope="module")
def compiled() -> ModuleType:
    return compiled_part("parse._blocks")


@settings(max_examples=1000)
@given(SOURCES)
@example(b"<p")
@example(b"<pre>a\nb<PRE >\nc</pre\n></PRE>\n<pre>\n")
@example(b"<div a='<p>\n<p>\n")
@example(b"<td>a</td><td>b</td>\n <hr\n/><b x><i/><style>")
def test_both_mark_alike(compiled: ModuleType, source: bytes) -> None:
    assert compiled.marked(source) == blocks_plain.marked(source)


@settings(max_examples=200)
@given(SOURCES.filter(bool))
def test_both_find_the_same_longest_stretch(compiled: ModuleType, source: bytes) -> None:
    long = source * (70_000 // len(source) + 1) + source[::-1]
    assert compiled.marked(long)[4] == blocks_plain.marked(long)[4]


@settings(max_examples=1000)
@given(TEXTS, st.integers(0, 60))
def test_both_make_the_same_lines(compiled: ModuleType, text: str, limit: int) -> None:
    assert compiled.lines(text, limit) == blocks_plain.lines(text, limit)
    assert compiled.line(text, limit) == blocks_plain.line(text, limit)


@settings(max_examples=300)
@given(
    st.lists(st.one_of(TEXTS, st.sampled_from(["word " * 9, "é" * 31 + " ", "\u3000 ", " \xa0"])))
)
@example(["a" * 31, " ", "\xa0", "b" * 40])
@example(["\u2014" * 31, " ", "\u2003", "b" * 40])
@example(["\U0001f600" * 63, " ", "\f", "b" * 70, " "])
def test_both_make_the_same_of_long_texts(compiled: ModuleType, parts: list[str]) -> None:
    for text in ("".join(parts), "".join(parts) * 3, " x".join(parts)):
        assert compiled.lines(text, 10_000) == blocks_plain.lines(text, 10_000)


@given(TEXTS)
def test_lines_are_words_with_single_blanks(text: str) -> None:
    found = lines(text, 10_000)
    assert found.split() == text.split()
    assert [" ".join(line.split()) for line in found.split("\n")] == found.split("\n")
    assert "\n\n" not in found


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        (b"<p>", 0),
        (b"<H2>", Seen.TOP_HEADINGS),
        (b"<p><h5 id=x>", Seen.LOW_HEADINGS),
        (b"<STYLE >", Seen.STYLE),
        (b"<div><iframe src=x>", Seen.IFRAME),
        (b"<frame/>", Seen.FRAME),
        (b"<noscript>", Seen.FALLBACK),
        (b"<pre>", Seen.PREFORMATTED),
        (b"<b class=x>", 0),
    ],
)
def test_what_was_seen(source: bytes, seen: int) -> None:
    found = marked(source)
    assert found.seen == seen
    assert found.tags == source.count(b"<")


@pytest.mark.parametrize(
    ("source", "left_open"),
    [
        (b"<b><i>", 0),
        (b"<b class=x>", 1),
        (b"<b class=x>text</B>", 0),
        (b"<b class=x>a<span title='x y'>b</SPAN>c</b>", 0),
        (b"<b class=x>a<em>b</em>c</b>", 1),
        (b"<b class=x><i/></b>", 2),
        (b'<b id=1 a=x" b="y" c="></b>">', 1),
        (b'<b id=1><span a="></b>">', 1),
        (b"<b id=1>x</b >", 1),
        (b"<b id = '1' checked / x=y/z>x</b>", 0),
    ],
)
def test_what_is_left_open(source: bytes, left_open: int) -> None:
    assert marked(source).left_open == left_open


@pytest.mark.parametrize("wrong", [None, "text", 3])
def test_the_compiled_form_refuses_other_types(compiled: ModuleType, wrong: object) -> None:
    with pytest.raises(TypeError):
        compiled.marked(wrong)
    with pytest.raises(TypeError):
        compiled.lines(wrong if wrong != "text" else b"text", 3)


NESTED = st.lists(
    st.one_of(
        PIECES,
        st.sampled_from(
            [
                "p",
                "li",
                "td",
                "tr",
                "option",
                "svg",
                "g",
                "div",
                "br",
                "h1",
                "image",
                "colgroup",
                "x-y",
            ]
        ).flatmap(
            lambda name: st.sampled_from([f"<{name}>", f"</{name}>", f"<{name}/>", f"<{name} a>"])
        ),
    ),
    max_size=60,
).map(lambda pieces: "".join(pieces).encode("utf-8", "replace"))


@settings(max_examples=500)
@given(NESTED, st.integers(0, 8))
@example(b"<svg><g/><g/><div><g/></DIV ></svg\n><SVG/><a/>", 2)
@example(b"<table><tr><td><p><li></table>", 3)
@example(b"<averylongname><averylongnamE></AVERYLONGNAME>", 1)
def test_both_say_alike_how_deep_it_is(compiled: ModuleType, source: bytes, deepest: int) -> None:
    assert compiled.shallow(source, deepest) == defuse_plain.shallow(source, deepest)


@settings(max_examples=500)
@given(NESTED, st.integers(0, 12))
@example(b"<a b c='>' d e='x y z > ' f>", 3)
@example(b'="x > <a b c d e f g" ', 3)
@example(b'<a\nb/c=d"e"', 2)
def test_whatever_is_too_wordy_is_looked_at(compiled: ModuleType, source: bytes, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crop, "MAX_NAMES", most)
        patch.setattr(crop, "_PORTION", 8)
        if crop._wordy(source) < len(source):
            assert compiled.most_words(source) > most
