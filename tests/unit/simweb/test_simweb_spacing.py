"""What a web asks for between two visits, of a crawler that ran on and of one that did not."""

from mannerly.simweb import AccessRecord, Web, preset
from mannerly.simweb.answer import Kind
from mannerly.simweb.judge import early, visits
from mannerly.simweb.reach import reachable
from mannerly.simweb.spacing import Break, Spacing
from mannerly.simweb.web import split

DELAY_S = 1.0
WEB = Web(preset("plain", seed=5, sites=60, pages_mean=8.0, pages_max=30, robots_rules=0.0,
                 robots_delays=0.5, crawl_delay_s=3.0, busy_pages=0.3))  # fmt: skip
URLS = sorted(reachable(WEB, [WEB.home(index) for index in range(60)]))


def request(start: float, url: str, status: int = 200) -> AccessRecord:
    scheme, host, path = split(url)
    return AccessRecord(
        start, start, start + 0.5, host, scheme, path, status, "test", "1", 100, sent_whole=True
    )


def too_soon(first: AccessRecord, gap_s: float, *breaks: Break) -> bool:
    """Is another page of the site, so long after the end of `first`, a violation?"""
    after = request(first.end + gap_s, f"{first.scheme}://{first.host}/other")
    spacing = Spacing(WEB, DELAY_S, {"test": breaks})
    return bool(early(visits([first, after], lambda host: host), spacing.required))


def slow_site() -> str:
    return next(url for url in URLS if WEB.crawl_delay_s(url) == 3.0)


def busy_page(*, date: bool) -> tuple[str, float]:
    """A page of a site without Crawl-delay that asks for more than the delay, and for how much."""
    for url in URLS:
        answer = WEB.answer(url)
        if answer.kind is Kind.BUSY and not WEB.crawl_delay_s(url):
            told = answer.retry_date_s or float(dict(answer.extra).get("Retry-After", 0))
            if told == 3 and (answer.retry_date_s is not None) is date:
                return url, told
    raise AssertionError("there is none")


def test_a_crawl_delay_counts_from_the_end_of_the_response() -> None:
    first = request(100, slow_site())
    assert not too_soon(first, 3.0)
    assert too_soon(first, 2.9)


def test_one_that_was_paused_owes_it_from_the_start() -> None:
    first = request(100, slow_site())
    assert not too_soon(first, 2.6, Break(100.2, 101))
    assert too_soon(first, 2.4, Break(100.2, 101))
    assert too_soon(first, 2.6, Break(90, 99)), "that was before"
    assert too_soon(first, 2.6, Break(104, 105)), "that was after"


def test_nobody_may_have_read_the_crawl_delay_that_a_crash_cut_off() -> None:
    origin = "/".join(slow_site().split("/")[:3])
    first = request(100, f"{origin}/robots.txt")
    # Of another origin, or it would be the same visit.
    after = request(101.1, f"{origin.replace('://', '://x.')}/")
    found = visits([first, after], lambda host: host.removeprefix("x."))
    assert early(found, Spacing(WEB, DELAY_S, {"test": [Break(100.4, 100.4)]}).required) == []
    assert len(early(found, Spacing(WEB, DELAY_S).required)) == 1


def test_retry_after_in_seconds_and_as_a_date() -> None:
    url, told_s = busy_page(date=False)
    assert not too_soon(request(100, url, 429), told_s)
    assert too_soon(request(100, url, 429), told_s - 0.1)
    assert not too_soon(request(100, url, 200), DELAY_S), "it was not busy then"
    url, told_s = busy_page(date=True)
    first = request(100.25, url, 503)
    assert not too_soon(first, told_s - 0.75), "a date has no fractions"
    assert too_soon(first, told_s - 0.8)
    assert not too_soon(first, DELAY_S, Break(101, 101)), "it may never have been read"
