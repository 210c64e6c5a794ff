"""Which site a host belongs to."""

import pytest

from mannerly.url import SiteKey
from mannerly.url import site as site_module


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("www.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("user.github.io", "user.github.io"),
        ("www.user.github.io", "user.github.io"),
        ("github.io", "github.io"),
        ("a.b.unknowntld", "b.unknowntld"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("www.xn--85x722f.xn--fiqs8s", "xn--85x722f.xn--fiqs8s"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
    ],
)
def test_by_domain_and_by_host(host: str, site: str) -> None:
    assert SiteKey().site_of(host) == site
    assert SiteKey("host").site_of(host) == host


def test_version_names_the_list() -> None:
    assert SiteKey().version[:2] == "20"
    assert SiteKey("host").version == "-"
    one = SiteKey(suffixes=["com", "org"])
    assert one.version == SiteKey(suffixes=["com", "org"]).version
    assert one.version != SiteKey(suffixes=["com"]).version


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_module, "_CACHE_LIMIT", 10)
    key = SiteKey("host")
    for number in range(100):
        assert key.site_of(f"{number}.example") == f"{number}.example"
    assert len(key._cache) <= 10
