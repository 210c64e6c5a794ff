"""Scrapy's link extractor: which links a page has."""

import base64
import json
from pathlib import Path
from typing import Any

from mannerly.parse import parse
from mannerly.url import SiteKey, canonical, resolve

ON_PURPOSE = {
    "scrapy-link-022": "pictures are links too: what a URL holds is known once it is fetched",
    "scrapy-link-046": "only http and https can be crawled",
}


def links(case: dict[str, Any]) -> list[tuple[str, bool]]:
    charset = case["encoding"]
    kind = "application/xhtml+xml" if case["xml"] == "XmlResponse" else "text/html"
    body = base64.b64decode(case["body_b64"])
    found = parse(body, f"{kind}; charset={charset}", agent="x")
    assert found is not None
    base = canonical(found.base, case["base_url"]) if found.base else case["base_url"]
    key = SiteKey()
    marked: dict[str, bool] = {}
    for link in found.hrefs:
        for resolved in resolve(base, [link.href], key):
            marked[resolved.url] = marked.get(resolved.url, True) and link.nofollow
    return list(marked.items())


def test_links_of_pages(suites: Path) -> None:
    """With Scrapy's default options; the other cases are about its filters, which are not here."""
    cases = json.loads((suites / "html" / "scrapy_link_cases.json").read_text("utf-8"))
    plain = [case for case in cases if not case["options"]]
    assert (len(cases), len(plain)) == (55, 12)
    differing = set()
    for case in plain:
        expected: dict[str, bool] = {}
        for link in case["expected"]:
            url = link["url"].partition("#")[0]  # Scrapy tells fragments apart, servers do not
            expected[url] = expected.get(url, True) and link["nofollow"]
        if links(case) != list(expected.items()):
            differing.add(case["id"])
    assert differing == set(ON_PURPOSE)


def test_what_filters_let_through_is_found(suites: Path) -> None:
    """Whatever Scrapy's filters choose of a page's `a` and `area`, we have found it."""
    cases = json.loads((suites / "html" / "scrapy_link_cases.json").read_text("utf-8"))
    others = {"tags", "attrs", "process_value", "canonicalize"}  # other links, or other URLs
    missing = []
    checked = 0
    for case in cases:
        if not case["options"] or others & set(case["options"]):
            continue
        checked += 1
        found = {url for url, _ in links(case)}
        wanted = {link["url"].partition("#")[0] for link in case["expected"]}
        if not wanted <= found:
            missing.append((case["id"], wanted - found))
    assert checked > 20
    # A query in the page's own encoding, which browsers write and we do not.
    assert [name for name, _ in missing] == ["scrapy-link-015"]
