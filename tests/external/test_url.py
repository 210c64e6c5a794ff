"""web-platform-tests: URL parsing."""

import json
from pathlib import Path
from typing import Any

import pytest

from mannerly.errors import UrlError
from mannerly.url import canonical
from mannerly.url.normal import serialised

HTTP = ("http://", "https://")

OLDER_TABLES = {
    # Ada as packaged has the Unicode tables of its time: these names are refused, or, for a
    # capital sharp s, mapped as browsers did before 2024. None of them is in a public suffix.
    "look\u180eout.net",
    "look\u206bout.net",
    "\u04c0.com",
    "\U0002f868.com",
    "\u2183.com",
    "\u1e9e.com",
    "\u1e9e.foo.com",
}


def cases(suites: Path, name: str) -> list[dict[str, Any]]:
    found = json.loads((suites / "url" / name).read_text(encoding="utf-8"))
    return [case for case in found if isinstance(case, dict)]


def parsed(text: str, base: str | None) -> str | None:
    try:
        return serialised(text, base)
    except UrlError:
        return None


@pytest.mark.parametrize(
    ("name", "concerned"), [("wpt_http_subset.json", 446), ("wpt_urltestdata.json", 488)]
)
def test_http_urls_are_parsed_and_joined_as_browsers_do(
    suites: Path, name: str, concerned: int
) -> None:
    checked = 0
    wrong = []
    for case in cases(suites, name):
        expected = None if case.get("failure") else case["href"]
        given = f"{case['input']} {case.get('base')}".lower()
        if not (expected or "").startswith(HTTP) and "http" not in given:
            continue
        checked += 1
        got = parsed(case["input"], case.get("base"))
        if got != expected:
            wrong.append((case["input"], case.get("base"), got, expected))
    assert not wrong
    assert checked == concerned


def test_canonical_is_what_browsers_say_less_what_no_server_sees(suites: Path) -> None:
    checked = 0
    for case in cases(suites, "wpt_http_subset.json"):
        host = case.get("hostname", "")
        if not case.get("href", "").startswith(HTTP) or ".." in host or host in (".", ""):
            continue
        url = canonical(case["input"], case.get("base"))
        path = case["pathname"] + case["search"]
        assert url == f"{case['protocol']}//{case['host'].removesuffix('.')}{path}", case
        assert canonical(url) == url
        checked += 1
    assert checked > 240


def test_hosts_are_made_ascii(suites: Path) -> None:
    differing = set()
    for case in cases(suites, "wpt_toascii.json"):
        got = parsed(f"https://{case['input']}/x", None)
        expected = case["output"] and f"https://{case['output']}/x"
        if got != expected:
            differing.add(case["input"])
    assert differing == OLDER_TABLES
