"""What a page gives that is new: its marks, its canonical link, and what the guard learns of it."""

import random
from typing import Any

import pytest

from mannerly.config import build
from mannerly.engine import page as page_module
from mannerly.engine.page import PageReader, Reading
from mannerly.engine.plan import EnginePlan
from mannerly.fetch.contract import Fetched
from mannerly.model import Lease, Priority
from mannerly.parse import parse
from mannerly.parse.contract import Parsed
from mannerly.records import PageRecord
from mannerly.url import LeftOut, Standing, url_hash
from mannerly.url.yields import PROVEN
from tests.unit.engine.urls import queued, sieve

LEASE = Lease("example.org", 1, 2, [], [], 0, 0.0)
HOST = "http://example.org"
CHANCE = random.Random(9)
WORDS = ["".join(CHANCE.choices("etaoinshrdlu", k=CHANCE.randint(2, 9))) for _ in range(2000)]


def prose(seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=300))


class Site:
    """Pages of example.org, read one after the other by one process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sieve = sieve()
        plan = EnginePlan.of(build({"email": "a@example.org"}), 10)
        self.reader = PageReader(plan, self.sieve, "Mannerly")
        self.canonical = ""

        def parsed(*args: Any, **options: Any) -> Parsed | None:
            found = parse(*args, **options)
            assert found is not None
            found.canonical = found.canonical or self.canonical
            return found

        monkeypatch.setattr(page_module, "parse", parsed)

    def read(
        self, path: str, text: str, *links: str, canonical: str = "", meta: str = ""
    ) -> Reading:
        self.canonical = canonical
        anchors = "".join(f"<a href='{link}'>.</a>" for link in links)
        link = f"<link rel=canonical href='{canonical}'>" if canonical else ""
        body = f"<head>{meta}{link}</head><p>{text}</p>{anchors}"
        url = HOST + path
        fetched = Fetched(url, status=200, body=body.encode(), started_at=1.0, ended_at=2.0)
        fetched.headers = [(b"Content-Type", b"text/html")]
        return self.reader.read(fetched, queued(url), LEASE, 1_800_000_000.0)

    def page(self, path: str, text: str, **more: str) -> PageRecord:
        page = self.read(path, text, **more).page
        assert page is not None
        return page


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(monkeypatch)


def test_copies_are_stored_and_marked_with_the_first(site: Site) -> None:
    first = site.page("/1", prose(1))
    assert (first.duplicate, first.duplicate_of) == ("", 0)
    assert first.simhash
    exact = site.page("/2", prose(1))
    assert (exact.duplicate, exact.duplicate_of) == ("exact", first.url_hash)
    near = site.page("/3", prose(1) + " more")
    assert (near.duplicate, near.duplicate_of) == ("near", first.url_hash)
    assert near.content_hash != first.content_hash


def test_a_canonical_url_is_added_and_its_page_marked(site: Site) -> None:
    reading = site.read("/a?sort=up", prose(1), canonical="/a")
    assert reading.page is not None
    assert (reading.page.duplicate, reading.page.duplicate_of) == (
        "canonical",
        url_hash(HOST + "/a"),
    )
    (added,) = reading.links
    assert (added.url, added.depth, added.referrer) == (
        HOST + "/a",
        queued().depth,
        reading.page.url_hash,
    )
    # The page that it names is no copy of it in turn.
    assert site.page("/a", prose(1), canonical="/a").duplicate == ""
    # What was seen is believed before what is said.
    again = site.page("/a?sort=down", prose(1), canonical="/elsewhere")
    assert (again.duplicate, again.duplicate_of) == ("near", url_hash(HOST + "/a"))


@pytest.mark.parametrize(
    "canonical",
    ["", "#top", "/a?utm_source=x", "https://other.example/a", "http://[", "mailto:x@y.z"],
)
def test_a_canonical_link_that_says_nothing(site: Site, canonical: str) -> None:
    page = site.page("/a", prose(1), canonical=canonical)
    assert (page.duplicate, page.duplicate_of) == ("", 0)


def test_a_canonical_link_is_not_followed_where_nothing_is(site: Site) -> None:
    meta = "<meta name=robots content=nofollow>"
    reading = site.read("/a", prose(1), canonical="/b", meta=meta)
    assert reading.page is not None
    assert (reading.page.duplicate, reading.links) == ("canonical", [])


def test_nothing_repeats_a_page_that_is_not_stored(site: Site) -> None:
    assert site.read("/1", prose(1), meta="<meta name=robots content=noindex>").page is None
    assert site.page("/2", prose(1)).duplicate == ""


def test_pages_that_repeat_are_put_off_then_left_out(site: Site) -> None:
    seen = []
    for n in range(80):
        reading = site.read(f"/day/{n}", prose(1), f"/day/{n + 1}", "/about")
        seen.append([link.priority for link in reading.links if "/day/" in link.url])
        assert any(link.url.endswith("/about") for link in reading.links)
    order = [Priority(found[0]) if found else None for found in seen]
    stages = [Priority.LINK, Priority.PUT_OFF, None]
    assert [stages.index(one) for one in order] == sorted(stages.index(one) for one in order)
    assert set(order) == set(stages)
    assert site.sieve.left_out == {LeftOut.YIELD: order.count(None)}


def test_lists_that_lead_to_new_pages_are_followed(site: Site) -> None:
    guard = site.sieve.guard
    assert guard is not None
    for n in range(PROVEN):
        site.read(f"/article/{n}", prose(100 + n))
    for n in range(300):
        site.read(f"/list/{n}", prose(1), f"/list/{n + 1}", f"/article/{n + PROVEN}")
    assert guard.standing("example.org", HOST + "/list/1000") is Standing.OPEN


def test_a_large_site_of_pages_alike_is_not_harmed(site: Site) -> None:
    """A shop: one template, many products, a third of them sold twice under another number."""
    guard = site.sieve.guard
    assert guard is not None
    frame = "Shop Basket Account Terms Delivery in 3 days "
    for n in range(1_500):
        product = n - 1 if n % 3 == 2 else n
        reading = site.read(f"/product/{n}?view=full", frame + prose(product), f"/product/{n + 1}")
        assert [link.priority for link in reading.links] == [Priority.LINK]
    assert (guard.closings, site.sieve.left_out) == (0, {})


def test_what_is_left_out_is_counted_by_cause(site: Site) -> None:
    excluded = sieve("excluded.example")
    found = excluded.resolve(
        HOST + "/",
        [
            "/a" * 50,
            "/" + "/a" * 7,
            "/" + "x" * 2100,
            "//excluded.example/",
            "/?" + "a&" * 50,
            "/ok",
        ],
    )
    assert [link.url for link in excluded.links(found, queued())] == [HOST + "/ok"]
    assert excluded.left_out == {
        LeftOut.SEGMENTS: 1,
        LeftOut.REPEATS: 1,
        LeftOut.LENGTH: 1,
        LeftOut.EXCLUDED: 1,
        LeftOut.PARAMETERS: 1,
    }
