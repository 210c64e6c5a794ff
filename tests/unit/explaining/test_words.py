"""The sentences: each story has its answer, and only what decided is named in it."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from mannerly.explaining import Story, explanation
from mannerly.explaining.story import ANYWHERE, RobotsWord, Scope
from mannerly.explaining.when import span
from mannerly.model import (
    Outcome,
    QueuedUrl,
    RobotsState,
    SiteFacts,
    SiteState,
    Source,
    UrlFacts,
    UrlState,
)
from mannerly.url import Closed, LeftOut

URL = "https://www.example.org/a"
QUEUED = QueuedUrl(URL, 1, 2, 20, 7, 2, 9, 0)
OPEN = SiteFacts("example.org", SiteState.OPEN, -5.0, False, "", 0, 0.0, 12, 0, 3, 0)
ROBOTS = RobotsWord(RobotsState.FOUND, 60.0, False, 0, 0.0, False, True, 0, "", "", None)
FORBIDDEN = ROBOTS._replace(allowed=False, line=4, rule="Disallow: /a", text="disallow: /a")
UNREACHABLE = ROBOTS._replace(state=RobotsState.UNREACHABLE, allowed=False, failures=2)


def story(state: UrlState, site: SiteFacts | None = OPEN, **more: Any) -> Story:
    queued = QUEUED if state in (UrlState.PENDING, UrlState.SPILT) else None
    facts = UrlFacts(site, state, Outcome.PENDING, queued, more.pop("before", 0))
    return replace(Story(URL, URL, site="example.org", running=True, facts=facts), **more)


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        (story(UrlState.PENDING), "it is the next of its site, which may be visited any moment."),
        (
            story(UrlState.PENDING, OPEN._replace(ready_in_s=30)),
            "it is the next of its site, which may be visited in 30 s.",
        ),
        (
            story(UrlState.PENDING, OPEN._replace(leased=True, holder="box:77", ready_in_s=30)),
            "it is next, and its site is being visited by box:77 now.",
        ),
        (story(UrlState.PENDING, before=11), "11 URLs of example.org go before it"),
        (story(UrlState.PENDING, before=10_000), "10,000 or more URLs of example.org"),
        (story(UrlState.PENDING, running=False), "no crawler runs in this data directory"),
        (
            story(UrlState.PENDING, robots=FORBIDDEN),
            "robots.txt forbids it (line 4 of robots.txt: disallow: /a)",
        ),
        (story(UrlState.PENDING, robots=UNREACHABLE), "could not be read, which means no until"),
        (story(UrlState.PENDING, excluded_by="example.org"), "It will not be crawled: the excl"),
        (
            story(UrlState.PENDING, OPEN._replace(state=SiteState.EXCLUDED)),
            "It will not be crawled: its site example.org is excluded",
        ),
        (
            story(UrlState.PENDING, OPEN._replace(state=SiteState.ABANDONED, failures=5)),
            "was abandoned after 5 failures in a row",
        ),
        (story(UrlState.SPILT, OPEN._replace(spilt=9)), "so this one is spilt with 9 others"),
        (story(UrlState.UNKNOWN, None), "no seed and no crawled page leads to example.org"),
        (
            story(UrlState.UNKNOWN, None, scope=ANYWHERE._replace(seeded_sites=True)),
            "it is out of scope: example.org is not the site of a seed",
        ),
        (
            story(UrlState.UNKNOWN, scope=Scope(False, False, -1)),
            "only the seeds are fetched in this crawl",
        ),
        (
            story(UrlState.UNKNOWN, scope=Scope(False, True, 3)),
            "no link of a crawled page, at most 3 links away from a seed",
        ),
        (story(UrlState.UNKNOWN, OPEN._replace(dropped=40)), "one of the 40 URLs of example.org"),
        (story(UrlState.UNKNOWN, excluded_by="org", trap="deep"), "the exclusion list says no"),
        (story(UrlState.UNKNOWN, trap="too deep"), "it looks like a trap (too deep)"),
        (
            story(UrlState.UNKNOWN, OPEN._replace(state=SiteState.EXCLUDED), trap="too deep"),
            "its site example.org is excluded from this crawl",
        ),
        (replace(story(UrlState.UNKNOWN), facts=None), "cannot be told without the frontier"),
    ],
)
def test_the_answer(told: Story, answer: str) -> None:
    assert answer in explanation(told).answer


@pytest.mark.parametrize("outcome", [it for it in Outcome if it not in (0, Outcome.NOT_SENT)])
def test_every_outcome_has_words_with_and_without_its_record(outcome: Outcome) -> None:
    facts = UrlFacts(OPEN, UrlState.SETTLED, outcome, None, 0)
    bare = replace(story(UrlState.SETTLED), facts=facts)
    assert "its record is not in this data directory" in explanation(bare).answer
    row = {
        "url": URL, "outcome": outcome.name.lower(), "status": 404, "fetched_at": None,
        "content_type": "image/png", "redirect_to": "https://x.example/", "detail": "why not",
        "tries": 3, "referrer_hash": 0,
    }  # fmt: skip
    told = explanation(replace(bare, fetches=[row])).answer
    assert "record" not in told
    assert outcome.name.lower() not in told.replace("excluded", "") or outcome.name == "FETCHED"


@pytest.mark.parametrize(
    ("robots", "sentence"),
    [
        (None, "has not been read"),
        (ROBOTS, "robots.txt (read 60 s ago) allows it: no rule matches."),
        (ROBOTS._replace(stale=True), "read again before the next page"),
        (FORBIDDEN, "robots.txt (read 60 s ago) forbids it, by line 4: disallow: /a"),
        (ROBOTS._replace(state=RobotsState.ABSENT), "There is no robots.txt at its origin"),
        (UNREACHABLE._replace(retry_in_s=240.0), "asked again in 4 min"),
        (UNREACHABLE._replace(given_up=True), "which means no until the record is too old"),
    ],
)
def test_the_robots_sentence(robots: RobotsWord | None, sentence: str) -> None:
    reasons = explanation(story(UrlState.PENDING, robots=robots)).reasons
    assert any(sentence in reason for reason in reasons), reasons


FETCHED = {
    "url": URL, "outcome": "fetched", "status": 200, "fetched_at": None, "tries": 1,
    "content_type": "text/html", "redirect_to": "", "detail": "", "referrer_hash": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("exact", "It repeats https://www.example.org/first: both have the same content."),
        ("near", "It repeats https://www.example.org/first: both have nearly the same text."),
        ("canonical", "it names https://www.example.org/first as canonical."),
    ],
)
def test_a_page_that_repeats_another(kind: str, sentence: str) -> None:
    facts = UrlFacts(OPEN, UrlState.SETTLED, Outcome.FETCHED, None, 0)
    page = {"title": "", "truncated": False, "characters": 5, "duplicate": kind, "duplicate_of": 3}
    first = "https://www.example.org/first"
    told = replace(story(UrlState.SETTLED), facts=facts, fetches=[FETCHED], page=page)
    known = explanation(replace(told, repeats=first, twin=first))
    assert known.answer.endswith(f"; it repeats {first}.")
    assert any(sentence in reason for reason in known.reasons)
    assert not any("byte for byte" in reason for reason in known.reasons)
    unknown = explanation(told)
    assert "repeats" not in unknown.answer
    assert any("that is not in this store" in reason for reason in unknown.reasons)


def test_a_pattern_that_is_left_out_and_other_causes() -> None:
    told = story(UrlState.UNKNOWN, left_out=Counter({LeftOut.VARIANTS: 7, LeftOut.DEPTH: 2}))
    assert any("2 links (too many links from a seed)" in it for it in explanation(told).reasons)
    assert not any("queries" in it for it in explanation(told).reasons)  # it has no query
    with_query = explanation(replace(told, url=f"{URL}?page=2"))
    assert any("7 links (too many queries for one path)" in it for it in with_query.reasons)
    closed = replace(told, closed=Closed("example.org", "www.example.org/cal/0", 60))
    assert "pages like it (www.example.org/cal/0) gave nothing new" in explanation(closed).answer


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (Source.SITEMAP, "It is a sitemap"),
        (Source.LISTED, "A sitemap names it: https://www.example.org/sitemap.xml."),
        (Source.LINK, "It was named first by https://www.example.org/sitemap.xml."),
    ],
)
def test_how_it_came(source: Source, sentence: str) -> None:
    told = story(UrlState.PENDING, referrer="https://www.example.org/sitemap.xml")
    assert told.facts is not None
    queued = QUEUED._replace(source=source)
    reasons = explanation(replace(told, facts=told.facts._replace(queued=queued))).reasons
    assert any(sentence in reason for reason in reasons)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.0 s"), (9.9, "9.9 s"), (70, "70 s"), (600, "10 min"), (86400, "24 h"),
     (864000, "10 days")],
)  # fmt: skip
def test_spans(seconds: float, words: str) -> None:
    assert span(seconds) == words
