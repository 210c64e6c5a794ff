"""Tracking parameters and session ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.errors import UrlError
from mannerly.url import ParameterRules, SiteKey, canonical, host_of, resolve, seeds, url_hash

DEFAULT = ParameterRules()
HERE = "https://example.org"
TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a?utm_source=x&utm_medium=y", "/a"),
        ("/a?id=1&utm_source=x&b=2", "/a?id=1&b=2"),
        ("/a?gclid=1&fbclid=2&id=3", "/a?id=3"),
        ("/a?PHPSESSID=1", "/a"),
        ("/a?phpsessid", "/a"),
        (f"/a?sid={TOKEN}", "/a"),
        ("/a?sid=7", "/a?sid=7"),
        ("/news?s=word", "/news?s=word"),
        (f"/t?s={TOKEN * 2}&p=1", "/t?p=1"),
        (f"/a;jsessionid={TOKEN}.node1?b=1", "/a?b=1"),
        (f"/a;JSESSIONID={TOKEN}/b;v=1;sid={TOKEN}/", "/a/b;v=1/"),
        (f"/a/..;jsessionid={TOKEN}/b", f"/a/..;jsessionid={TOKEN}/b"),
        (f"/a/%2E;jsessionid={TOKEN}", f"/a/%2E;jsessionid={TOKEN}"),
        ("/a?utm%5Fsource=1", "/a?utm%5Fsource=1"),
        ("/a?x=utm_source=1", "/a?x=utm_source=1"),
        ("/a?&utm_source=1", "/a"),
        ("/a?b&&gclid=1", "/a?b&"),
        ("/a?", "/a"),
        ("/a?b=1;utm_source=2", "/a?b=1;utm_source=2"),
        ("/utm_source=1", "/utm_source=1"),
        ("/a?aspsessionidqabc=1", "/a"),
    ],
)
def test_the_default_list(path: str, expected: str) -> None:
    url = canonical(HERE + path, parameters=DEFAULT)
    assert url == HERE + expected
    assert DEFAULT.strip(url) == url


def test_the_list_can_be_changed() -> None:
    more = ParameterRules(("default", "Ref", "x_*:3"), keep=("utm_source", "s*:40"))
    url = f"{HERE}/?ref=1&x_a=12&x_b=123&utm_source=1&utm_medium=2&s={TOKEN * 3}"
    assert more.strip(url) == f"{HERE}/?x_a=12&utm_source=1&s={TOKEN * 3}"
    only = ParameterRules(("ref",))
    assert only.strip(f"{HERE}/?ref=1&gclid=2") == f"{HERE}/?gclid=2"
    assert ParameterRules(("none",)).strip(f"{HERE}/a;jsessionid=1?gclid=2") == (
        f"{HERE}/a;jsessionid=1?gclid=2"
    )


@pytest.mark.parametrize("rule", ["", "a b", "a&b", "*", "a**", "a:b", "a=1"])
def test_what_is_no_rule(rule: str) -> None:
    with pytest.raises(ValueError, match="parameters"):
        ParameterRules((rule,))


def test_seeds_are_the_same_urls_as_links() -> None:
    (seed,) = seeds.read(["example.org/a?utm_source=mail"], DEFAULT)
    assert not isinstance(seed, seeds.BadLine)
    (link,) = resolve(f"{HERE}/", ["/a?gclid=1", "/a?fbclid=2"], SiteKey(), parameters=DEFAULT)
    assert seed.url == link.url == f"{HERE}/a"


def test_a_url_may_be_too_long_for_its_parameters_only() -> None:
    short = f"{HERE}/a?utm_source={'x' * 2000}"
    (link,) = resolve(f"{HERE}/", [short], SiteKey(), max_length=600, parameters=DEFAULT)
    assert link.url == f"{HERE}/a" == canonical(short, max_length=600, parameters=DEFAULT)


WORDS = "/ . .. ; = & ? % a sid utm_x gclid jsessionid %2e %2E # //"
PIECES = [*WORDS.split(), TOKEN, "\\"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


@given(TEXTS, TEXTS)
def test_the_form_stays_canonical_and_a_fixed_point(text: str, base: str) -> None:
    try:
        whole = canonical(text, f"{HERE}/{base}")
    except UrlError:
        return
    url = canonical(text, f"{HERE}/{base}", parameters=DEFAULT)
    assert canonical(url) == url == canonical(url, parameters=DEFAULT)
    assert url == DEFAULT.strip(whole)
    names = {part.partition("=")[0] for part in url.partition("?")[2].split("&")}
    assert not names & {"gclid", "utm_x", "jsessionid"}


@given(st.lists(TEXTS, max_size=10))
def test_a_batch_is_what_its_links_are(hrefs: list[str]) -> None:
    base, key = f"{HERE}/a/b;v=1?c", SiteKey("host")
    found: dict[str, None] = {}
    for href in hrefs:
        if href.partition("#")[0]:
            try:
                found[canonical(href, base, parameters=DEFAULT)] = None
            except UrlError:
                continue
    resolved = resolve(base, hrefs, key, parameters=DEFAULT)
    assert [link.url for link in resolved] == list(found)
    assert all(link.hash == url_hash(link.url) for link in resolved)
    assert all(link.site == host_of(link.url) for link in resolved)
