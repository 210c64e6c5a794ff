"""Which site a host belongs to."""

from pathlib import Path

import pytest

from mannerly.errors import ConfigError
from mannerly.url import SiteKey, suffix_list
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


def test_a_list_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "list.dat"
    path.write_text("// VERSION: 2031-01-01\ncom\nfresh.com\n")
    key = SiteKey(suffixes=suffix_list(path).splitlines())
    assert key.site_of("a.b.fresh.com") == "b.fresh.com"
    assert SiteKey().site_of("a.b.fresh.com") == "fresh.com"
    assert key.version.startswith("2031-01-01-")
    path.write_text("// VERSION: 2031-01-01\ncom\n")
    assert SiteKey(suffixes=suffix_list(path).splitlines()).version != key.version
    assert suffix_list().count("\n") > 10_000


@pytest.mark.parametrize("content", [b"<html>not found</html>", b"", b"\xff"])
def test_a_file_that_is_no_list(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "list.dat"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="public suffix list"):
        suffix_list(path)
    with pytest.raises(ConfigError, match="cannot read"):
        suffix_list(tmp_path / "absent")


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_module, "_CACHE_LIMIT", 10)
    key = SiteKey("host")
    for number in range(100):
        assert key.site_of(f"{number}.example") == f"{number}.example"
    assert len(key._cache) <= 10
