"""Sitemaps as others write them."""

import base64
import json
from pathlib import Path

from mannerly.parse import in_scope, parse_sitemap
from mannerly.url import canonical

BY_POLICY = {
    # The parser gives what is written; whether a sitemap may name another host is asked of
    # `in_scope` by who follows it.
    "cross-host",
}


def test_documents(suites: Path) -> None:
    cases = json.loads((suites / "sitemap" / "sitemap_document_cases.json").read_text("utf-8"))
    assert len(cases) == 44
    wrong = []
    for case in cases:
        found = parse_sitemap(base64.b64decode(case["body_b64"]), case["content_type"])
        kind = found.kind.value if found.kind else None
        urls = [canonical(entry.loc) for entry in found.entries]
        expected = case["expected"]
        allowed = expected.get("any_of") if isinstance(expected, dict) else [expected]
        if kind != case["kind"] or (allowed is not None and urls not in allowed):
            wrong.append((case["id"], kind, urls))
        if allowed is None:
            assert case["id"] in BY_POLICY
            assert not any(in_scope(case["sitemap_url"], url) for url in urls)
    assert not wrong


def test_scope(suites: Path) -> None:
    cases = json.loads((suites / "sitemap" / "location_scope_cases.json").read_text("utf-8"))
    assert len(cases) == 4
    for case in cases:
        assert in_scope(canonical(case["sitemap"]), canonical(case["url"])) == case["in_scope"], (
            case
        )
