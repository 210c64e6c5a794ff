"""The Public Suffix List's own cases."""

import json
from pathlib import Path

from mannerly.errors import UrlError
from mannerly.url import SiteKey, canonical, host_of


def sites(suites: Path, key: SiteKey) -> list[tuple[str, str | None, str | None]]:
    """Input, what the suite says, what we say; inputs as they would stand in a URL."""
    found = []
    for case in json.loads((suites / "psl" / "check_public_suffix_cases.json").read_text("utf-8")):
        try:
            host = host_of(canonical(f"https://{case['input'] or ''}/"))
        except UrlError:
            host = ""
        expected = case["registrable"]
        if expected is not None:
            expected = host_of(canonical(f"https://{expected}/"))
        elif host:
            expected = host  # a public suffix is its own site
        found.append((case["input"], expected, key.site_of(host) if host else None))
    return found


def test_packaged_list(suites: Path) -> None:
    results = sites(suites, SiteKey())
    assert len(results) == 78
    assert [result for result in results if result[1] != result[2]] == []


def test_list_of_the_suite(suites: Path) -> None:
    lines = (suites / "psl" / "public_suffix_list.dat").read_text("utf-8").splitlines()
    key = SiteKey(suffixes=lines)
    assert [result for result in sites(suites, key) if result[1] != result[2]] == []
    assert key.version != SiteKey("host").version
