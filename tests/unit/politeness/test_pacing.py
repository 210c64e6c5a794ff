"""The pace after a visit, as rules and as properties."""

import dataclasses
import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.model import Outcome
from mannerly.politeness.pacing import (
    MOMENT_S,
    PacePolicy,
    after_failure,
    after_response,
    back_off,
    delay_for,
    parse_retry_after,
    spread,
)

POLICY = PacePolicy(
    delay_s=70,
    crawl_delay_ceiling_s=600,
    retry_delay_s=60,
    retry_ceiling_s=86400,
    max_tries=3,
    max_failures=5,
    robots_ttl_s=86400,
)
WALL = 1_800_000_000.0
failing = st.sampled_from(
    [Outcome.CONNECT_FAILED, Outcome.TLS_FAILED, Outcome.TIMED_OUT, Outcome.BROKEN,
     Outcome.DNS_TROUBLE, Outcome.NO_SUCH_NAME, Outcome.ADDRESS_REFUSED]
)  # fmt: skip


def respond(status: int, *, retry_after_s: float | None = None, failures: int = 0, tries: int = 1):  # type: ignore[no-untyped-def]
    return after_response(
        POLICY,
        status=status,
        retry_after_s=retry_after_s,
        delay_s=70,
        failures=failures,
        tries=tries,
    )


def test_a_longer_crawl_delay_is_honoured_up_to_the_ceiling() -> None:
    assert delay_for(POLICY, None) == 70 + MOMENT_S
    assert delay_for(POLICY, 1) == 70 + MOMENT_S
    assert delay_for(POLICY, 120) == 120 + MOMENT_S
    assert delay_for(POLICY, 1e9) == 600 + MOMENT_S
    assert delay_for(dataclasses.replace(POLICY, delay_s=0.0), None) == 0


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, Outcome.FETCHED), (204, Outcome.FETCHED), (301, Outcome.REDIRECTED),
     (404, Outcome.HTTP_ERROR), (410, Outcome.HTTP_ERROR)],
)  # fmt: skip
def test_plain_answers_settle_and_forgive(status: int, outcome: Outcome) -> None:
    pace = respond(status, failures=3)
    assert pace == (outcome, 70, 0, False, "delay")


@pytest.mark.parametrize("status", [429, 503])
def test_a_site_that_asks_for_patience_gets_it(status: int) -> None:
    assert respond(status).settle is None
    assert respond(status).rest_s == 70  # the delay is longer than the first back-off
    assert respond(status, retry_after_s=1000).rest_s == 1000
    assert respond(status, retry_after_s=1e12).rest_s == 86400
    assert respond(status, failures=2).rest_s == 960
    assert respond(status, tries=3).settle is Outcome.HTTP_ERROR
    assert respond(status, failures=4).abandoned


def test_every_rest_names_the_rule_that_gave_it() -> None:
    assert respond(503).why == "delay"
    assert respond(503, retry_after_s=1000).why == "retry-after"
    assert respond(503, failures=2).why == "back-off"
    assert respond(503, retry_after_s=1000, failures=3).why == "back-off"
    slow = after_failure(POLICY, failure=Outcome.NO_SUCH_NAME, delay_s=300, failures=0, tries=1)
    assert slow.why == "crawl-delay"
    assert after_response(
        POLICY, status=200, retry_after_s=None, delay_s=300, failures=0, tries=1
    ).why == "crawl-delay"  # fmt: skip


def test_a_broken_page_is_not_the_sites_fault() -> None:
    pace = respond(500, failures=0, tries=1)
    assert pace == (None, 70, 0, False, "delay")
    assert respond(500, tries=3).settle is Outcome.HTTP_ERROR


def test_a_name_that_does_not_exist_is_final_at_once() -> None:
    pace = after_failure(POLICY, failure=Outcome.NO_SUCH_NAME, delay_s=70, failures=0, tries=1)
    assert pace.settle is Outcome.NO_SUCH_NAME
    assert pace.failures == 0


@given(failing, st.integers(0, 50), st.integers(1, 50))
def test_after_a_failure(failure: Outcome, failures: int, tries: int) -> None:
    pace = after_failure(POLICY, failure=failure, delay_s=70, failures=failures, tries=tries)
    assert 70 <= pace.rest_s <= 86400
    assert pace.settle in (None, failure)
    assert tries < POLICY.max_tries or pace.settle is failure
    assert not pace.abandoned or pace.failures >= POLICY.max_failures


@given(st.integers(100, 599), st.none() | st.floats(0, 1e9), st.integers(0, 50), st.integers(1, 9))
def test_no_response_shortens_the_delay(
    status: int, retry_after_s: float | None, failures: int, tries: int
) -> None:
    pace = respond(status, retry_after_s=retry_after_s, failures=failures, tries=tries)
    assert pace.rest_s >= 70
    if status in (429, 503) and retry_after_s is not None:
        assert pace.rest_s >= min(retry_after_s, POLICY.retry_ceiling_s)


@given(st.integers(1, 1000))
def test_back_off_grows_and_is_bounded(failures: int) -> None:
    assert back_off(POLICY, failures) <= back_off(POLICY, failures + 1) <= POLICY.retry_ceiling_s


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), (" 0 ", 0), ("Fri, 15 Jan 2027 08:01:40 GMT", 100),
     ("Fri, 15 Jan 2027 07:00:00 GMT", 0), ("", None), ("soon", None), ("-5", None),
     ("1.5", None), ("99999999999999999999", 9999999999),
     ("Friday, 15-Jan-27 08:01:40 GMT", 100), ("Fri Jan 15 08:01:40 2027", 100),
     ("Fri, 15 Jan 2027 10:01:40 +0200", 100), ("Fri, 31 Dec 9999 23:59:59 GMT", 251_602_300_799),
     ("120, 120", None), ("\u0663\u0660", None), ("Fri, 99 Jan 2027 08:01:40 GMT", None)],
)  # fmt: skip
def test_both_forms_of_retry_after(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, WALL) == seconds


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_a_date_without_a_zone_is_not_that_of_the_machine(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert parse_retry_after("Fri Jan 15 08:01:40 2027", WALL) == 100
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.integers(0, 10**9))
def test_both_forms_say_the_same(seconds: int) -> None:
    date = format_datetime(datetime.fromtimestamp(WALL + seconds, UTC), usegmt=True)
    assert parse_retry_after(date, WALL) == parse_retry_after(str(seconds), WALL) == seconds


@given(st.sampled_from([429, 503]), st.text() | st.integers().map(str), st.integers(0, 60))
def test_whatever_a_site_asks_for_it_rests_a_bounded_and_growing_time(
    status: int, value: str, failures: int
) -> None:
    asked_s = parse_retry_after(value, WALL)
    pace = respond(status, retry_after_s=asked_s, failures=failures)
    again = respond(status, retry_after_s=asked_s, failures=failures + 1)
    assert 70 <= pace.rest_s <= POLICY.retry_ceiling_s
    assert again.rest_s >= pace.rest_s
    assert pace.failures == failures + 1


@given(st.text())
def test_retry_after_never_raises(value: str) -> None:
    seconds = parse_retry_after(value, WALL)
    assert seconds is None or seconds >= 0


@given(st.floats(0, 200_000), st.text())
def test_a_spread_rest_is_never_shorter_and_at_most_twice_as_long(rest_s: float, who: str) -> None:
    spread_s = spread(POLICY, rest_s, who)
    assert rest_s <= spread_s <= max(rest_s, min(2 * rest_s, POLICY.retry_ceiling_s))
    assert spread_s == spread(POLICY, rest_s, who), "the same run again"


def test_many_who_were_sent_away_at_once_come_back_one_by_one() -> None:
    rests = sorted(spread(POLICY, 60.0, f"https://{number}.test 1") for number in range(1000))
    for tenth in range(10):
        part = [rest_s for rest_s in rests if 60 + 6 * tenth <= rest_s < 66 + 6 * tenth]
        assert 60 < len(part) < 140
