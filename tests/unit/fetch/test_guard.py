"""The address guard, at the borders of its ranges. The list of the suite is in tests/external."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.fetch.guard import literal, refusal


def refused(text: str) -> bool:
    return bool(refusal(ipaddress.ip_address(text)))


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("0.255.255.255", "1.0.0.0"),
        ("10.0.0.0", "9.255.255.255"),
        ("10.255.255.255", "11.0.0.0"),
        ("100.64.0.0", "100.63.255.255"),
        ("100.127.255.255", "100.128.0.0"),
        ("127.0.0.0", "126.255.255.255"),
        ("127.255.255.255", "128.0.0.0"),
        ("168.63.129.16", "168.63.129.17"),
        ("169.254.0.0", "169.253.255.255"),
        ("172.31.255.255", "172.32.0.0"),
        ("192.0.0.255", "192.0.1.0"),
        ("192.88.99.1", "192.88.98.255"),
        ("192.168.0.0", "192.167.255.255"),
        ("198.19.255.255", "198.20.0.0"),
        ("224.0.0.0", "223.255.255.255"),
        ("255.255.255.255", "223.255.255.255"),
        ("1fff:ffff::", "2003::1"),
        ("4000::", "3ffe::1"),
        ("2001:1ff:ffff::", "2001:200::"),
        ("2001:db8:ffff::", "2001:db9::"),
        ("3fff:fff::", "3fff:1000::"),
        ("2002:c0a8:101::1", "2002:808:808::1"),
        ("64:ff9b::192.168.1.1", "64:ff9b::8.8.8.8"),
        ("64:ff9b:1::8.8.8.8", "::ffff:8.8.8.8"),
        ("::8.8.8.8", "::ffff:1.1.1.1"),
    ],
)
def test_borders(inside: str, outside: str) -> None:
    assert refused(inside)
    assert not refused(outside)


def test_zone_is_refused_whatever_the_address() -> None:
    assert refused("2606:4700:4700::1111%eth0")


def test_reason_names_the_carried_address() -> None:
    why = refusal(ipaddress.ip_address("::ffff:10.0.0.1"))
    assert why == "carries 10.0.0.1: private"


@given(st.ip_addresses(v=4))
def test_mapped_address_is_judged_as_what_it_carries(address: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert bool(refusal(mapped)) == bool(refusal(address))


@given(st.ip_addresses())
def test_nothing_private_in_pythons_eyes_is_allowed(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    """Python's own table, as a second opinion; ours may only be stricter."""
    if address.is_private or address.is_multicast or address.is_reserved:
        carried = isinstance(address, ipaddress.IPv6Address) and (
            address.ipv4_mapped
            or address.sixtofour  # private to some versions of Python, whatever it carries
            or address in ipaddress.ip_network("64:ff9b::/96")
        )
        assert carried or refusal(address)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("8.8.8.8", "8.8.8.8"),
        ("[2606:4700::1]", "2606:4700::1"),
        ("2606:4700::1", "2606:4700::1"),
        ("example.com", None),
        ("3com.com", None),
        ("0x.example", None),
        ("1.2.3.example", None),
        ("xn--p1ai", None),
    ],
)
def test_literal(host: str, address: str | None) -> None:
    assert literal(host) == (ipaddress.ip_address(address) if address else None)


@pytest.mark.parametrize(
    "host",
    ["0x7f.1", "2130706433", "017700000001", "127.1", "010.0.0.1", "1.2.3.4.", "1.2.3.256", "0x",
     "a.0xff", "1.2.3.4.5", "[::1", "::1]", "[v1.x]", "1.2.3.4:80", "a.09"],
)  # fmt: skip
def test_odd_spellings_are_neither_address_nor_name(host: str) -> None:
    with pytest.raises(ValueError, match="odd spelling"):
        literal(host)
