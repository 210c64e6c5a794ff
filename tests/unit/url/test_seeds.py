"""Seed files."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.url import BadLine, Seed, canonical, seeds


def test_lines_of_all_kinds() -> None:
    lines = [
        b"\xef\xbb\xbf# domains\r\n",
        b"example.org\r\n",
        b"  Example.NET/path?q  # a comment\n",
        b"\n",
        b"http://example.com/#frag\n",
        "b\u00fccher.example".encode(),
        b"HTTPS://example.com",
        b"//example.org/x",
        b"example.org:8080/y",
        b"192.0.2.1",
        b"[2001:db8::1]",
    ]
    assert list(seeds.read(lines)) == [
        Seed(2, "https://example.org/", True),
        Seed(3, "https://example.net/path?q", True),
        Seed(5, "http://example.com/", False),
        Seed(6, "https://xn--bcher-kva.example/", True),
        Seed(7, "https://example.com/", False),
        Seed(8, "https://example.org/x", True),
        Seed(9, "https://example.org:8080/y", True),
        Seed(10, "https://192.0.2.1/", True),
        Seed(11, "https://[2001:db8::1]/", True),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "ftp://example.org/",
        "mailto:a@example.org",
        "someone@example.org",
        "two words",
        "1,example.org",
        "42",
        "http://",
        "https://a..b/",
        "x" * 10_000,
        b"\xff\xfe",
    ],
)
def test_bad_lines_are_values(line: str | bytes) -> None:
    (bad,) = seeds.read([line])
    assert isinstance(bad, BadLine)
    assert bad.number == 1
    assert bad.reason
    assert len(bad.text) <= 200


def test_memory_does_not_grow_with_the_lines() -> None:
    tracemalloc.start()
    count = sum(1 for _ in seeds.read(f"{n}.example.org\n" for n in range(20_000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 200_000


@given(st.lists(st.one_of(st.text(max_size=30), st.binary(max_size=30)), max_size=5))
def test_any_line_is_a_seed_or_a_bad_line(lines: list[str | bytes]) -> None:
    for found in seeds.read(lines):
        assert 1 <= found.number <= len(lines)
        if isinstance(found, Seed):
            assert canonical(found.url) == found.url
