"""Main text: content without what stands around it."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.parse import main_text

PROSE = (
    "The quick brown fox jumps over the lazy dog again and again until the whole farm is awake and"
    " the farmer comes to see what all that noise is about."
)
MENU = "".join(f"<li><a href=/{n}>Entry {n}</a>" for n in range(8))


def found(html: str) -> str:
    return main_text(html.encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize(
    "around",
    [
        "<nav>{menu}</nav><main><h1>Head</h1>{prose}</main><footer>Imprint and terms</footer>",
        "<ul>{menu}</ul><div role=main><nav>{menu}</nav><h1>Head</h1>{prose}</div>",
        "<div class='site-nav'>{menu}</div><article><h1>Head</h1>{prose}</article><p>Imprint",
        "<ul>{menu}</ul><h1>Head</h1>{prose}<ul>{menu}</ul>",
        "<div id=sidebar>Not a link</div><h1>Head</h1>{prose}<div class=footer>x</div>",
        "<table><tr><td>{menu}</td><td><h1>Head</h1>{prose}</td></tr></table>",
    ],
)
def test_navigation_is_left_out(around: str) -> None:
    prose = f"<p>{PROSE}</p><pre>x = 1\ny = 2</pre><p>{PROSE} With a <a href=/x>link</a> in it.</p>"
    expected = f"Head\n{PROSE}\nx = 1\ny = 2\n{PROSE} With a link in it."
    assert found(around.format(menu=MENU, prose=prose)) == expected


def test_a_page_in_which_nothing_stands_out_is_taken_whole() -> None:
    assert found("<p>one</p><p>two</p>") == "one\ntwo"
    assert found(f"<ul>{MENU}</ul>").startswith("Entry 0\nEntry 1")
    assert found("") == ""


def test_a_box_that_is_the_page_stays() -> None:
    assert found(f"<div class=menu><p>{PROSE}</p><p>{PROSE}</p></div>") == f"{PROSE}\n{PROSE}"


@settings(deadline=None)
@given(
    st.one_of(st.binary(max_size=200), st.text("<a>/div \x0e\x0f", max_size=100).map(str.encode))
)
def test_never_raises_and_shows_no_marks(body: bytes) -> None:
    text = main_text(body, "text/html")
    assert "\x0e" not in text
    assert "\x0f" not in text


@pytest.mark.parametrize(
    "body",
    [
        b"<div class=nav>" * 9_000 + b"word " * 200_000,
        b"<a href=x>y</a> " * 120_000,
        b"<main>" * 9_000 + b"x" * 1_000_000,
    ],
)
def test_bounded(body: bytes) -> None:
    started = time.process_time()
    main_text(body, "text/html")
    assert time.process_time() - started < 4
