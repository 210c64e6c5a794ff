"""Cases of Google's and protego's robots.txt parsers."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mannerly.politeness.robots import parse_robots

# Where the two parsers differ from each other, or from their own tests, one of them has to be left.
DIALECT = {
    "google-041": "an agent is one word: 'Foo Bar' asks as 'Foo', which the file names",
    "google-064": "a path is percent-encoded before it is matched (RFC 9309, 2.2.2)",
    "google-066": "the same",
    "google-067": "unreserved characters are decoded on both sides (RFC 9309, 2.2.2)",
    "protego-117": "our agent is a product token, not a browser's whole User-Agent header",
    "protego-240": "an unknown key does not end a group (as Google; the stricter reading)",
    "protego-241": "the same",
    "protego-242": "the same",
    "protego-249": "a blank for the colon only where exactly two words stand there (as Google)",
    "protego-252": "no wildcards inside agent names (as Google)",
    "protego-295": "$ at the end is an anchor and nothing else (RFC 9309, 2.2.3)",
    "protego-296": "the same",
    "protego-298": "a pattern that does not begin with / or * matches nothing (as Google)",
    "protego-313": "agents match whole, not by prefix (as Google)",
    "protego-319": "the same",
    "protego-320": "the same",
    "protego-322": "the same",
    "protego-323": "the same",
}


def load(suites: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((suites / "robots" / name).read_text("utf-8"))
    return found


def path_in(url: str) -> str:
    """The path of a URL that may lack most of its parts."""
    path = re.sub(r"^(?:[a-z]+:)?//[^/?#]*", "", url).partition("#")[0]
    return path if path.startswith("/") else f"/{path}"


@pytest.mark.parametrize("name", ["google_matcher_cases.json", "protego_cases.json"])
def test_verdicts(suites: Path, name: str) -> None:
    cases = load(suites, name)
    differing = {
        case["id"]
        for case in cases
        if parse_robots(case["robots"].encode(), case["agent"])
        .verdict(path_in(case["url"]))
        .allowed
        != case["allowed"]
    }
    agreed = {case["id"] for case in cases if case["consensus"]}
    assert len(agreed) > 130
    assert not differing & agreed
    assert differing == {case["id"] for case in cases} & DIALECT.keys()


def test_directives(suites: Path) -> None:
    """Crawl-delay and sitemaps; Request-rate and Visit-time are no part of any standard."""
    checked = 0
    for case in load(suites, "protego_directive_cases.json"):
        rules = parse_robots(case["robots"].encode(), case["agent"] or "*")
        if case["kind"] == "sitemaps":
            assert list(rules.sitemaps) == case["expected"], case
        elif case["kind"] == "crawl_delay":
            assert rules.crawl_delay == case["expected"], case
        else:
            continue
        checked += 1
    assert checked >= 7


def test_parser_lines_and_byte_order_marks(suites: Path) -> None:
    """The last rule is found on the line where Google's parser sees it, however lines end."""
    lines = 0
    for case in load(suites, "google_parser_cases.json"):
        if case["kind"] == "parse_last_line_seen" and "robots" in case:
            verdict = parse_robots(case["robots"].encode(), "bar").verdict("/x")
            assert (verdict.allowed, verdict.line) == (False, case["expected"]), case
            lines += 1
        elif case["kind"] == "parse_sitemap":
            body = case["robots"].encode() if "robots" in case else b""
            assert "http://foo.bar/sitemap.xml" in parse_robots(body, "foo").sitemaps
        elif case["kind"] == "parse_valid_directives" and "robots_b64" in case:
            body = base64.b64decode(case["robots_b64"])
            applies = parse_robots(body, "foo").verdict("/AnyValue").line == 2
            # Google also skips the beginning of a byte order mark that was cut off; we do too.
            assert applies == (case["expected"] == 2), case
    assert lines >= 5
