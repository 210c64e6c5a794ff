"""HTML: links, text and facts."""

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.parse import Heading, Href, LinkKind, Parsed, parse_html, parse_text
from mannerly.parse import html as html_module


def page(
    html: str,
    content_type: str = "text/html; charset=utf-8",
    *,
    max_links: int = 5_000,
    max_text: int = 1_000_000,
) -> Parsed:
    """Read with a tree and, if it can be, without: there is no difference."""
    source = html.encode("utf-8", "replace")

    def parsed() -> Parsed:
        return parse_html(
            source, content_type, agent="Mannerly", max_links=max_links, max_text=max_text
        )

    found = parsed()
    with patch.object(html_module, "read_treeless", lambda *_: None):
        assert parsed() == found
    return found


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("<p>w<b>or</b>d w<span class=x>or</span>d", "word word"),
        ("<div>a</div>b<div>c</div>", "a\nb\nc"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("a<br>b<hr>c", "a\nb\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>", "a\nb\nc"),
        ("<p>  many\n\n  spaces\t&nbsp; here </p>", "many spaces here"),
        ("<pre>x = 1\n  y = 2\n</pre>after", "x = 1\ny = 2\nafter"),
        ("a<script>var s = '<p>no';</script>b<style>p{}</style>c", "abc"),
        ("<body><noscript>no</noscript><template><p>no</p></template>yes", "yes"),
        ("<div hidden>no<p>no</div><p aria-hidden='true'>no</p><p>yes", "yes"),
        ("<body hidden>yes", "yes"),
        ("<h1>Title</h1>text<custom-box>boxed</custom-box>", "Title\ntext\nboxed"),
        ("<HTML><BODY><P>o<B>n</B>e<P>two</BODY></HTML>", "one\ntwo"),
        ("&lt;b&gt; &amp; &#x41;&#65;", "<b> & AA"),
        ("<p>a<!-- no <p> no -->b", "ab"),
        ("<body><noscript><style>p{}</style><p>x</p></noscript>y", "y"),
        ("", ""),
        ("<frameset><frame src=a></frameset>", ""),
        ("<p>\x00nul\x0cfeed", "nul\nfeed"),
        ("<div title='a<p>'>one</div>two<div title='a>b'>three", "one\ntwo\nthree"),
        ("a<p style='color:red;display: none'>no</p>b", "a\nb"),
        ("a<span aria-hidden=TRUE>no</span>b", "ab"),
        ("a <iframe src=x>no <b>no</b></iframe>b", "a\nb"),
        ("a<PRE>x\n  y</PRE>b", "a\nx\ny\nb"),
        ("x < y <3 a<b</div>c", "x < y <3 a\nc"),
        ("<p hidden>a</p><p>the hidden truth: display:none", "the hidden truth: display:none"),
        (
            "<svg><title>no link</title><text>t</text></svg><noframes>no</noframes>y",
            "no link\nt\ny",
        ),
    ],
)
def test_text(html: str, text: str) -> None:
    assert page(html).text == text


def test_links_in_order_distinct_and_marked() -> None:
    found = page(
        """<head><base href="/base/"><link rel=canonical href=/c><link rel="next" href=/n>
        <link rel=stylesheet href=/s.css><link rel=alternate type=application/rss+xml href=/feed>
        <link rel=alternate hreflang=de href=/de>
        <meta http-equiv=Refresh content="5; url=/refreshed"></head>
        <body><a href=/a>1</a><a href=/b rel="external NoFollow">2</a><a href=/a rel=nofollow>3</a>
        <a>4</a>
        <map><area href=/area></map><iframe src=/iframe></iframe><a href="">5</a>
        <a href=/u rel=ugc>6</a><a href=/b>7</a><noscript><a href=/noscript>8</a></noscript>
        <template><a href=/template></a></template>"""
    )
    assert found.base == "/base/"
    assert found.canonical == "/c"
    assert found.hrefs == [
        Href("/c", nofollow=False, kind=LinkKind.CANONICAL),
        Href("/n", nofollow=False, kind=LinkKind.NEXT),
        Href("/de", nofollow=False, kind=LinkKind.ALTERNATE),
        Href("/refreshed", nofollow=False, kind=LinkKind.REFRESH),
        Href("/a", nofollow=False),
        Href("/b", nofollow=False),  # linked once without
        Href("/area", nofollow=False, kind=LinkKind.AREA),
        Href("/iframe", nofollow=False, kind=LinkKind.FRAME),
        Href("/u", nofollow=True, ugc=True),
        Href("/noscript", nofollow=False),
    ]
    frames = page("<frameset><frame src=/f></frameset>")
    assert frames.hrefs == [Href("/f", nofollow=False, kind=LinkKind.FRAME)]


def test_marks_hold_only_where_every_link_has_them() -> None:
    found = page(
        """<a href=/s rel=sponsored>1</a><a href=/s rel="ugc Sponsored">2</a>
        <a href=/t rel=ugc>3</a><a href=/t rel=nofollow>4</a><area href=/v rel=nofollow>"""
    )
    assert found.hrefs == [
        Href("/s", nofollow=True, sponsored=True),
        Href("/t", nofollow=True),
        Href("/v", nofollow=True, kind=LinkKind.AREA),
    ]


def test_description_open_graph_and_headings() -> None:
    found = page(
        """<title>T</title><meta name=Description content=" About
        it "><meta name=description content=second>
        <meta property="og:title" content="An &amp; title"><meta property=og:title content=second>
        <meta property=og:image content=/i.png><meta name=og:locale content=en_GB>
        <meta property=og:video content=/v.mp4><meta property=og:type content="">
        <h1>One <small>h<b>ea</b>d</small><script>no</script></h1>
        <h2 hidden>no</h2><H4>F<br>our</H4><h2> </h2>"""
    )
    assert found.description == "About it"
    assert dict(found.open_graph) == {"title": "An & title", "image": "/i.png", "locale": "en_GB"}
    assert found.headings == [Heading(1, "One head"), Heading(4, "F our")]
    assert len(page("<h3>x</h3>" * 1000).headings) == 200


def test_hrefs_are_as_written() -> None:
    assert page("<a href='/a?b=<p>&amp;c'>x</a>").hrefs == [Href("/a?b=<p>&c", nofollow=False)]


@pytest.mark.parametrize(
    ("meta", "noindex", "nofollow"),
    [
        ("<meta name=robots content=noindex>", True, False),
        ("<META NAME=ROBOTS CONTENT='NoFollow, NOARCHIVE'>", False, True),
        ("<meta name=robots content=none>", True, True),
        ("<meta name=mannerly content='noindex,nofollow'>", True, True),
        ("<meta name=otherbot content=none>", False, False),
        ("<meta name=robots content='index,follow'>", False, False),
        ("<meta name=robots content=noindex><meta name=MANNERLY content=nofollow>", True, True),
        ("<div></div><meta name=robots content=noindex>", True, False),
    ],
)
def test_meta_robots(meta: str, noindex: bool, nofollow: bool) -> None:
    found = page(meta)
    assert (found.noindex, found.nofollow) == (noindex, nofollow)


def test_title_and_language() -> None:
    found = page("<html lang='De-CH'><title> A\n&amp; B </title><svg><title>no</title></svg>")
    assert (found.title, found.language) == ("A & B", "de-ch")
    assert page("<html lang='<evil>'>").language == ""
    assert page("<html xml:lang=fr>").language == "fr"
    assert len(page(f"<title>{'x' * 5000}</title>").title) == 1000


def test_charsets() -> None:
    body = "<meta charset=windows-1251><p>Привет".encode("cp1251")
    found = parse_html(body, "text/html", agent="x")
    assert (found.charset, found.text) == ("windows-1251", "Привет")
    found = parse_html("<p>é".encode("utf-16"), "text/html; charset=latin1", agent="x")
    assert (found.charset, found.text) == ("UTF-16LE", "é")
    found = parse_html(b"<p>caf\xe9", "text/html", agent="x")
    assert (found.charset, found.text) == ("windows-1252", "café")
    found = parse_html(b"<p>a\xffb", "text/html; charset=utf-8", agent="x")
    assert (found.charset, found.text) == ("UTF-8", "a\ufffdb")


def test_limits() -> None:
    links = "".join(f"<a href=/{n}>x</a>" for n in range(200))
    assert len(page(links, max_links=7).hrefs) == 7
    assert len(page("<p>word " * 1000, max_text=100).text) == 100


INLINE = st.sampled_from(["b", "i", "span", "a", "code", "em", "font", "sub", "mark", "SPAN", "u"])
BLOCK = st.sampled_from(
    ["p", "div", "li", "td", "h2", "section", "blockquote", "x-card", "article"]
)
WORD = st.text("abcdefgh", min_size=1, max_size=6)


@given(st.lists(st.tuples(BLOCK, WORD, INLINE, WORD, WORD), min_size=1, max_size=8))
def test_words_stay_whole_and_blocks_apart(parts: list[tuple[str, str, str, str, str]]) -> None:
    """Whatever the tags, the text is the words that stand between them."""
    html = ["<html>"]
    for block, before, inline, inside, after in parts:
        open_tag, close_tag = (
            ("<table><tr><td>", "</table>") if block == "td" else (f"<{block}>", f"</{block}>")
        )
        name = inline.lower()
        html.append(
            f"{open_tag}{before}<{name} class='k' title='<{block}>'>{inside}</{name}>{after}"
            f"<script>'<{block}>leak'</script>{close_tag}"
        )
    expected = "\n".join(before + inside + after for _, before, _, inside, after in parts)
    assert page("".join(html)).text == expected


@given(st.text(max_size=200))
def test_no_markup_leaks_from_escaped_text(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    for control in map(chr, [*range(32), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF]):
        if not control.isspace():
            escaped = escaped.replace(control, "")
            text = text.replace(control, "")
    found = page(f"<div class='x'><p>{escaped}</p></div>")
    assert found.text.split() == text.encode("utf-8", "replace").decode().split()


@settings(deadline=None)  # the first body that must be guessed loads the detector
@given(
    st.one_of(st.binary(max_size=300), st.text("<>/=\"'! abp-\n\f", max_size=200).map(str.encode))
)
def test_never_raises(body: bytes) -> None:
    found = parse_html(body, "text/html", agent="x")
    found.text.encode("utf-8")
    for link in found.hrefs:
        link.href.encode("utf-8")


WORDS = st.text("abcdefgh é字", min_size=1, max_size=8).filter(str.strip)
NODES = st.recursive(
    WORDS,
    lambda inner: st.tuples(
        st.one_of(BLOCK.filter(lambda tag: tag != "td"), INLINE), st.lists(inner, max_size=4)
    ),
    max_leaves=20,
)
Node = str | tuple[str, list["Node"]]


def written(node: Node) -> str:
    if isinstance(node, str):
        return node
    tag, children = node
    inner = "".join(map(written, children))
    return f"<{tag} class='x>y'>{inner}</{tag}><!-- no --><script>no()</script>"


def visible(node: Node) -> list[str]:
    return (
        [node] if isinstance(node, str) else [text for child in node[1] for text in visible(child)]
    )


@given(st.lists(NODES, max_size=5))
def test_visible_text_comes_out_whole_and_in_order(nodes: list[Node]) -> None:
    """Whatever is nested in what (and what HTML makes of it), nothing is lost, added or moved."""
    found = page("".join(map(written, nodes)))
    expected = "".join(text for node in nodes for text in visible(node))
    assert "".join(found.text.split()) == "".join(expected.split())
    assert all(line == " ".join(line.split()) for line in found.text.split("\n") if found.text)


@given(st.lists(WORDS.map(lambda text: " ".join(text.split())), max_size=6))
def test_text_of_text_is_itself(blocks: list[str]) -> None:
    once = page("".join(f"<p>{block}</p>" for block in blocks)).text
    assert once == "\n".join(blocks)
    assert page("".join(f"<p>{line}</p>" for line in once.split("\n"))).text == once
    plain = parse_text(once.encode(), "text/plain; charset=utf-8").text
    assert plain == once


def test_what_stands_in_the_wrong_place_is_read() -> None:
    found = page(
        """<head><div></div><meta name=robots content=noindex><link rel=canonical href=/c>
        <style>no{}</style><h1>Head</h1></head><body><title>Late</title>text</body>"""
    )
    assert found.noindex
    assert (found.canonical, found.title) == ("/c", "Late")
    assert found.headings == [Heading(1, "Head")]
    assert found.text == "Head\nLate\ntext"
