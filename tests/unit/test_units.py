import pytest

from mannerly import units


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("70s", 70), ("70", 70), ("1.5", 1.5), ("200ms", 0.2), ("1h30m", 5400), ("2d", 172800),
     ("1 h 5 min", 3900), ("0", 0)],
)  # fmt: skip
def test_durations(text: str, seconds: float) -> None:
    assert units.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "-5s", "70 seconds", "1h30", "5x", "1..5s", "nan"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        units.duration(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("2MiB", 2 * 1024 * 1024), ("500kB", 500_000), ("1G", 10**9), ("17", 17), ("1.5 ki", 1536)],
)
def test_sizes(text: str, count: int) -> None:
    assert units.size(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "-1", "5 apples", "1 TiBB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="size"):
        units.size(text)


def test_counts_may_be_grouped() -> None:
    assert units.count("1_000_000") == units.count("1,000,000") == 1_000_000
    for text in ("", "-1", "1.5", "ten", "²"):
        with pytest.raises(ValueError, match="whole number"):
            units.count(text)
    with pytest.raises(ValueError, match="at least 1"):
        units.positive("0")


@pytest.mark.parametrize("text", ["you@example.org", "first.last+crawl@sub.example.co.uk"])
def test_addresses(text: str) -> None:
    assert units.email(f" {text} ") == text


@pytest.mark.parametrize("text", ["", "you", "you@", "@example.org", "a b@c.de", "you@localhost"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        units.email(text)


def test_endpoints() -> None:
    assert units.endpoint("127.0.0.1:8080") == ("127.0.0.1", 8080)
    assert units.endpoint("[::1]:80") == ("::1", 80)
    for text in ("localhost", ":80", "host:0", "host:99999", "host:port"):
        with pytest.raises(ValueError, match="HOST:PORT"):
            units.endpoint(text)


def test_a_header_value_cannot_smuggle_lines() -> None:
    with pytest.raises(ValueError, match="printable"):
        units.string("agent\r\nEvil: yes")


def test_dns_servers() -> None:
    text = "9.9.9.9, 10.0.0.1:5353, 2001:db8::1, [::1]:53"
    assert units.servers(text) == ("9.9.9.9", "10.0.0.1:5353", "2001:db8::1", "[::1]:53")
    for bad in ("notanip", "9.9.9.9:port", "9.9.9.9,dns.example"):
        with pytest.raises(ValueError, match="IP addresses"):
            units.servers(bad)


def test_limits_that_would_stop_everything_are_refused() -> None:
    assert units.some_size("2MiB") == 2 * 2**20
    with pytest.raises(ValueError, match="at least 1kB"):
        units.some_size("0")
    assert units.some_time("1s") == 1.0
    with pytest.raises(ValueError, match="at least 10ms"):
        units.some_time("0")
