"""Sitemaps that are too much cost the crawler little memory, and the others nothing."""

from pathlib import Path

import pytest

from tests.hostile import ordinary, sitemaps
from tests.hostile.catalogue import PAGES_A_SITE
from tests.hostile.run import crawl, serving

pytestmark = pytest.mark.alone

MIB = 1024 * 1024
GROWTH = 64 * MIB
PLAIN_SITES = 5


def test_hostile_sitemaps_are_read_within_bounds(tmp_path: Path) -> None:
    plain, hostile = ordinary.sites()[:PLAIN_SITES], sitemaps.sites()
    with serving(tmp_path / "access.jsonl") as served:
        quiet = crawl(tmp_path / "quiet", served, plain)
        disturbed = crawl(tmp_path / "disturbed", served, [*hostile, *plain])
    assert disturbed.returncode == 0, disturbed.errors
    for site in hostile:
        assert disturbed.fetches[f"{site.home}map"]["outcome"] == "fetched"
        assert f"{site.home}map" not in disturbed.pages
    # They were read: what they list was fetched, as far as the site's cap goes.
    for name in ("sitemap-bomb", "sitemap-packed-twice", "sitemap-full"):
        listed = [url for url in disturbed.pages if url.startswith(f"http://{name}.example/")]
        assert 2 < len(listed) <= PAGES_A_SITE, name
    parts = [url for url in disturbed.fetches if "sitemap-of-bombs.example/part-" in url]
    assert 2 < len(parts) <= PAGES_A_SITE
    grown = disturbed.peak_bytes - quiet.peak_bytes
    assert grown < GROWTH, f"{grown / MIB:.0f} MiB"
    # The others have all their pages, as without them.
    for site in plain:
        assert {f"{site.home.rstrip('/')}{path}" for path in site.expected} <= set(disturbed.pages)
