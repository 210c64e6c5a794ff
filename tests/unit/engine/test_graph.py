"""The link graph: every link of a page is told of, and following is as without it."""

from typing import NamedTuple

from mannerly.config import build
from mannerly.engine.page import PageReader, Reading
from mannerly.engine.plan import EnginePlan
from mannerly.fetch.contract import Fetched
from mannerly.model import Lease
from mannerly.parse.anchors import MAX_ANCHOR
from mannerly.url import url_hash
from tests.unit.engine.urls import HOME, queued, sieve

LEASE = Lease("example.org", 1, 2, [], [], 0, 0.0)
PAGE = """<html><head><link rel=canonical href=/canon><link rel=stylesheet href=/style.css>
<meta http-equiv=refresh content='9; url=/later'></head><body>
<a href=/one> The <b>first</b>
 one </a><a rel='nofollow ugc noopener' href='https://other.example/x'>Other</a>
<a href='/two#part'></a><a href='/two' title='By title'><img></a>
<map><area href=/three alt='By alt'></map><iframe src=/frame></iframe>
<a rel=nofollow href=/one?>again</a><a href='mailto:me@example.org'>write</a></body></html>"""


class Link(NamedTuple):
    target: str
    anchor: str
    rel: str
    kind: str
    position: int


def read(body: str, *headers: tuple[bytes, bytes], keep: str = "links") -> Reading:
    config = build({"email": "a@example.org", "keep": frozenset(keep.split())})
    fetched = Fetched(HOME, status=200, body=body.encode(), started_at=1.0, ended_at=2.0)
    fetched.headers = [(b"Content-Type", b"text/html"), *headers]
    return PageReader(EnginePlan.of(config, 10), sieve(), "Mannerly").read(
        fetched, queued(), LEASE, 1.8e9
    )


def links(reading: Reading) -> list[Link]:
    graph = reading.graph
    assert graph is not None
    assert (graph.token, graph.url, graph.site) == (LEASE.token, HOME, LEASE.site)
    assert graph.target_hash == [url_hash(target) for target in graph.target]
    rows = zip(graph.target, graph.anchor, graph.rel, graph.kind, graph.position, strict=True)
    return sorted((Link(*row) for row in rows), key=lambda link: link.position)


def test_every_link_with_its_words_and_its_relation() -> None:
    assert links(read(PAGE)) == [
        Link("http://example.org/canon", "", "canonical", "link", 0),
        Link("http://example.org/later", "", "", "meta", 1),
        Link("http://example.org/one", "The first one", "", "a", 2),
        Link("https://other.example/x", "Other", "nofollow ugc", "a", 3),
        Link("http://example.org/two", "", "", "a", 4),
        Link("http://example.org/three", "By alt", "", "area", 6),
        Link("http://example.org/frame", "", "", "frame", 7),
    ]


def test_what_is_followed_does_not_depend_on_it() -> None:
    with_graph, without = read(PAGE), read(PAGE, keep="")
    assert without.graph is None
    assert with_graph.links == without.links
    assert with_graph.links_seen == without.links_seen == 6


def test_links_that_must_not_be_followed_are_told_and_those_of_what_must_not_be_stored_not() -> (
    None
):
    unfollowed = read(PAGE, (b"X-Robots-Tag", b"nofollow"))
    assert unfollowed.links == []
    assert len(links(unfollowed)) == 7
    assert read(PAGE, (b"X-Robots-Tag", b"noindex")).graph is None
    assert read("<p>no link</p>").graph is None


def test_words_are_bounded() -> None:
    long = "word " * 1_000_000
    body = f"<a href=/0>{long}</a>" + "".join(f"<a href=/{n}>{'x' * 999}</a>" for n in range(1, 9))
    found = links(read(body))
    assert all(len(link.anchor) <= MAX_ANCHOR for link in found)
    assert found[0].anchor.startswith("word word")
