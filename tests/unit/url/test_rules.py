"""Exclusions and trap rules."""

from pathlib import Path

import pytest

from mannerly.errors import ConfigError
from mannerly.url import Exclusions, SiteKey, TrapRules, canonical, host_of

KEY = SiteKey()


def covers(exclusions: Exclusions, text: str) -> bool:
    url = canonical(text)
    return exclusions.covers(url, host_of(url), KEY.site_of(host_of(url)))


RULES = """\ufeff# who asked
example.org   # all of it
WWW.example.net

b\u00fccher.example
192.0.2.7
https://example.com/users/
http://example.com:8080
"""


@pytest.mark.parametrize(
    ("url", "covered"),
    [
        ("https://example.org/", True),
        ("http://a.b.example.org:81/x", True),
        ("https://notexample.org/", False),
        ("https://example.org.other.example/", False),
        ("https://www.example.net/", True),
        ("https://x.www.example.net/", True),
        ("https://x.y.www.example.net/", True),
        ("https://example.net/", False),
        ("https://xn--bcher-kva.example/", True),
        ("http://192.0.2.7/", True),
        ("http://192.0.2.70/", False),
        ("https://example.com/users/1", True),
        ("http://example.com/users/", True),
        ("https://example.com/users", False),
        ("https://www.example.com/users/1", False),
        ("http://example.com:8080/any", True),
    ],
)
def test_exclusions(url: str, covered: bool, tmp_path: Path) -> None:
    path = tmp_path / "exclusions.txt"
    path.write_text(RULES, encoding="utf-8")
    exclusions = Exclusions.read(path)
    assert exclusions
    assert covers(exclusions, url) == covered


def test_no_exclusions() -> None:
    assert not Exclusions()
    assert not covers(Exclusions(), "https://example.org/")


@pytest.mark.parametrize(
    "line", ["a b", "*.example.org", "example.org/path", "ftp://example.org/", "http://", "a@b.c"]
)
def test_a_bad_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(f"ok.example\n{line}\n")
    with pytest.raises(ConfigError, match="line 2"):
        Exclusions.read(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        Exclusions.read(tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot read"):
        Exclusions.read(tmp_path / "binary")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/", None),
        ("/2024/01/01/a/01", None),
        ("/a/b/a/b/a/b/a/b/a/b/a/b", "occurs"),
        ("/" + "/".join(map(str, range(41))), "segments"),
        ("/" + "/".join(map(str, range(40))), None),
        ("/?" + "&".join(f"p{n}" for n in range(41)), "parameters"),
        ("/?" + "&".join(f"p{n}" for n in range(40)), None),
        ("/" + "x" * 2048, "longer"),
        ("/?next=/a/a/a/a/a/a/a/a/a", None),
    ],
)
def test_traps(path: str, reason: str | None) -> None:
    found = TrapRules().reason(f"https://example.org{path}")
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)
    off = TrapRules(max_length=None, max_segments=None, max_repeats=None, max_query_params=None)
    assert off.reason(f"https://example.org{path}") is None


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("https://example.org/x", "example.org"),
        ("https://deep.www.example.net/", "www.example.net"),
        ("http://example.com/users/7", "example.com/users/"),
        ("https://example.com/about", ""),
        ("https://example.net/", ""),
    ],
)
def test_the_rule_that_excludes_can_be_named(url: str, rule: str) -> None:
    rules = Exclusions(["example.org", "www.example.net", "https://example.com/users/"])
    host = host_of(url)
    assert rules.rule_for(url, host, SiteKey().site_of(host)) == rule
    assert rules.covers(url, host, SiteKey().site_of(host)) is bool(rule)
