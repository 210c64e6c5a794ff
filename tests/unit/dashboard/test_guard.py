"""Who may see and do what at the dashboard."""

from http import HTTPStatus

import pytest

from mannerly.dashboard.guard import Guard, is_loopback, new_token
from mannerly.dashboard.http import Request

TOKEN = "a token of this run"
OURS = {"host": "127.0.0.1:4280"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
LOCAL = Guard(TOKEN, open_to_all=False)
OPEN = Guard(TOKEN, open_to_all=True)


def verdict(guard: Guard, method: str, path: str, headers: dict[str, str], **query: str) -> int:
    answer = guard.refusal(Request(method, path, query, headers))
    return HTTPStatus.OK if answer is None else answer.status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (OURS, 200),
        ({"host": "localhost:4280"}, 200),
        ({"host": "[::1]:4280"}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "[::1]"}, 200),
        ({"host": "::1"}, 421),
        ({"host": "evil.example:4280"}, 421),
        ({"host": "127.0.0.1.evil.example:4280"}, 421),
        ({}, 421),
        ({**OURS, "sec-fetch-site": "same-origin"}, 200),
        ({**OURS, "sec-fetch-site": "none"}, 200),
        ({**OURS, "sec-fetch-site": "cross-site"}, 403),
        ({**OURS, "sec-fetch-site": "same-site"}, 403),
        ({**OURS, "origin": "http://127.0.0.1:4280"}, 200),
        ({**OURS, "origin": "http://localhost:8000"}, 403),
        ({**OURS, "origin": "null"}, 403),
    ],
)
def test_reading_is_for_this_machine_and_this_page(headers: dict[str, str], status: int) -> None:
    assert verdict(LOCAL, "GET", "/api/snapshot", headers) == status


@pytest.mark.parametrize(
    ("headers", "query", "status"),
    [
        ({**OURS, **BEARER}, {}, 200),
        (OURS, {}, 401),
        (OURS, {"token": TOKEN}, 401),
        ({**OURS, "authorization": "Bearer wrong"}, {}, 401),
        ({**OURS, "authorization": f"Basic {TOKEN}"}, {}, 401),
        ({**OURS, "authorization": "Bearer "}, {}, 401),
        ({**OURS, **BEARER, "origin": "http://evil.example"}, {}, 403),
        ({**OURS, **BEARER, "sec-fetch-site": "cross-site"}, {}, 403),
        ({**BEARER, "host": "evil.example"}, {}, 421),
    ],
)
def test_steering_needs_the_token_in_a_header(
    headers: dict[str, str], query: dict[str, str], status: int
) -> None:
    assert verdict(LOCAL, "POST", "/api/stop", headers, **query) == status


def test_where_others_reach_it_everything_needs_the_token() -> None:
    named = {"host": "crawler.example:4280"}
    for path in ("/", "/metrics", "/healthz", "/api/snapshot"):
        assert verdict(OPEN, "GET", path, named) == 401
        assert verdict(OPEN, "GET", path, {**named, **BEARER}) == 200
        assert verdict(OPEN, "GET", path, named, token=TOKEN) == 200
        assert verdict(OPEN, "GET", path, named, token="wrong") == 401


def test_a_link_to_the_page_may_be_followed_from_elsewhere() -> None:
    followed = {**OURS, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert verdict(LOCAL, "GET", "/", followed) == 200
    assert verdict(LOCAL, "GET", "/api/pages", followed) == 403
    assert verdict(LOCAL, "POST", "/", {**followed, **BEARER}) == 403


def test_addresses_that_only_this_machine_reaches() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.0.2.1", "example.org", ""]))


def test_tokens_are_long_and_new() -> None:
    assert len(new_token()) >= 20
    assert new_token() != new_token()
