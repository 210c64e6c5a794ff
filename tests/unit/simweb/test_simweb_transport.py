"""The transport on virtual time keeps the contract and tells what the server would have told."""

import asyncio
from collections.abc import Callable

import pytest

from mannerly.clock import VirtualRunner
from mannerly.fetch.contract import Fetched
from mannerly.model import Outcome
from mannerly.simweb import AccessRecord, Answer, Kind, Web, preset
from mannerly.simweb.transport import SimTransport
from mannerly.simweb.web import split

WEB = Web(preset("hostile", seed=7, sites=60, pages_mean=30, pages_max=400, traps=False))
PAGES = [
    url
    for index in range(60)
    for url in WEB.pages.urls(WEB.site(index), range(WEB.site(index).pages))
]
START_AT = 1_000_000.0


def page_where(test: Callable[[Answer], bool]) -> str:
    return next(url for url in PAGES if test(WEB.answer(url)))


def fetch(
    *urls: str,
    time_s: float = 30.0,
    start_by_s: float = 10.0,
    body_limit: int = 10_000_000,
    web: Web = WEB,
) -> tuple[list[Fetched], list[AccessRecord]]:
    log: list[AccessRecord] = []

    async def main() -> list[Fetched]:
        transport = SimTransport(web, runner.clock, log)
        scheme, host, _ = split(urls[0])
        channel = transport.open(f"{scheme}://{host}")
        found = []
        for url in urls:
            now = runner.clock.now()
            found.append(
                await channel.get(
                    url,
                    deadline_at=now + time_s,
                    start_by_at=now + start_by_s,
                    body_limit=body_limit,
                )
            )
        channel.close()
        channel.close()
        await transport.aclose()
        return found

    with VirtualRunner() as runner:
        return runner.run(main()), log


def test_a_page_comes_after_its_latency_with_the_bytes_of_the_web() -> None:
    url = page_where(lambda answer: answer.kind is Kind.PAGE and answer.keep_alive)
    (first, second), log = fetch(url, url)
    answer = WEB.answer(url)
    assert first.failure is None
    assert (first.status, first.body) == (200, answer.body)
    assert first.header(b"content-type") == answer.content_type
    assert first.header(b"content-length") == str(len(answer.body))
    assert first.started_at == START_AT
    assert first.ended_at == pytest.approx(START_AT + answer.latency_s)
    assert answer.latency_s > 0
    assert (first.reused, second.reused) == (False, True)
    assert log[0].connection == log[1].connection
    assert (log[0].url, log[0].status, log[0].sent_whole) == (url, 200, True)
    assert log[0].end - log[0].start == pytest.approx(answer.latency_s)


def test_a_site_may_close_after_each_response() -> None:
    url = page_where(lambda answer: answer.kind is Kind.PAGE and not answer.keep_alive)
    (_, second), log = fetch(url, url)
    assert not second.reused
    assert log[0].connection != log[1].connection


@pytest.mark.parametrize(
    ("kind", "failure", "status"),
    [
        (Kind.STALLED, Outcome.TIMED_OUT, 0),
        (Kind.STOPPED, Outcome.TIMED_OUT, 0),
        (Kind.CUT, Outcome.BROKEN, 0),
        (Kind.CLOSED, Outcome.BROKEN, 0),
        (Kind.GONE, None, 410),
        (Kind.FAILING, None, 500),
    ],
)
def test_failures(kind: Kind, failure: Outcome | None, status: int) -> None:
    url = page_where(lambda answer: answer.kind is kind)
    (fetched,), (record,) = fetch(url)
    assert (fetched.failure, fetched.status) == (failure, status)
    assert bool(fetched.detail) == (failure is not None)
    assert record.sent_whole == (failure is None)
    if failure is Outcome.TIMED_OUT:
        assert fetched.ended_at == START_AT + 30


def test_names_that_do_not_exist_and_sites_without_tls_see_no_request() -> None:
    site = next(WEB.site(index) for index in range(60) if WEB.site(index).scheme == "http")
    for url, failure in (
        ("http://no-such-1.test/", Outcome.NO_SUCH_NAME),
        (f"https://{site.host}/", Outcome.TLS_FAILED),
    ):
        (fetched,), log = fetch(url)
        assert fetched.failure is failure
        assert fetched.started_at == 0
        assert log == []


def test_nothing_is_sent_too_late() -> None:
    url = page_where(lambda answer: answer.kind is Kind.PAGE)
    (fetched,), log = fetch(url, start_by_s=-0.001)
    assert (fetched.failure, fetched.started_at, log) == (Outcome.NOT_SENT, 0, [])
    (fetched,), log = fetch(url, time_s=0)
    assert (fetched.failure, log) == (Outcome.TIMED_OUT, [])


def test_a_response_after_the_deadline_is_none() -> None:
    url = page_where(lambda answer: answer.kind is Kind.PAGE and answer.latency_s > 0.1)
    (fetched,), (record,) = fetch(url, time_s=0.1)
    assert fetched.failure is Outcome.TIMED_OUT
    assert fetched.ended_at == pytest.approx(START_AT + 0.1)
    assert not record.sent_whole


def test_a_body_over_the_limit_is_cut_and_the_connection_not_used_again() -> None:
    url = page_where(lambda answer: answer.kind is Kind.PAGE and answer.keep_alive)
    (first, second), log = fetch(url, url, body_limit=1000)
    assert first.failure is None
    assert first.truncated
    assert first.body == WEB.answer(url).body[:1000]
    assert not second.reused
    assert not log[0].sent_whole
    exact = len(WEB.answer(url).body)
    (whole,), _ = fetch(url, body_limit=exact)
    assert not whole.truncated


def test_a_busy_page_answers_in_the_end() -> None:
    url = page_where(lambda answer: answer.kind is Kind.BUSY)
    found, log = fetch(*[url] * 4)
    statuses = [fetched.status for fetched in found]
    assert statuses[0] in {429, 503}
    assert found[0].header(b"retry-after")
    assert statuses[-1] == 200
    assert [record.status for record in log] == statuses


def test_a_cancelled_request_is_in_the_log() -> None:
    url = page_where(lambda answer: answer.kind is Kind.STALLED)
    log: list[AccessRecord] = []

    async def main() -> None:
        channel = SimTransport(WEB, runner.clock, log).open("/".join(url.split("/")[:3]))
        now = runner.clock.now()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await channel.get(url, deadline_at=now + 60, start_by_at=now + 60, body_limit=1000)

    with VirtualRunner() as runner:
        runner.run(main())
    assert [(record.end - record.start, record.sent_whole) for record in log] == [(5, False)]
