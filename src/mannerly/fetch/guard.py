"""The address guard: may a connection be opened to this IP address? Pure.

Everything that is not globally reachable is refused, after the IANA special-purpose registries.
The tables are our own: `ipaddress.is_global` has changed its mind between patch releases of
Python, and a guard must not depend on which one is installed. An IPv6 address that carries an IPv4
address (mapped, NAT64, 6to4) is judged by what it carries, because that is where the packets end.

What cannot be known here: a NAT64 or ISATAP prefix of the operator's own network. Whoever has one
in a global prefix must block it in the network.
"""

import ipaddress
import socket
from bisect import bisect_right

_SPECIAL_V4 = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by carriers"),
    ("127.0.0.0/8", "loopback"),
    # A public number that leads to the host agent of a virtual machine on Azure.
    ("168.63.129.16/32", "cloud host service"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)

_SPECIAL_V6 = (
    ("2001::/32", "Teredo"),
    ("2001::/23", "protocol assignments"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
)

_V4_STARTS = [int(ipaddress.IPv4Network(net).network_address) for net, _ in _SPECIAL_V4]
_V4_RANGES = [(int(ipaddress.IPv4Network(net).broadcast_address), why) for net, why in _SPECIAL_V4]
_V6_RANGES = [(ipaddress.IPv6Network(net), why) for net, why in _SPECIAL_V6]
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def refusal(address: Address) -> str:
    """Why no connection may be opened to this address; '' if one may."""
    if isinstance(address, ipaddress.IPv4Address):
        return _refusal_v4(int(address))
    if address.scope_id is not None:
        return "has a zone"
    carried = address.ipv4_mapped or address.sixtofour
    if carried is None and address in _NAT64:
        carried = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if carried is not None:
        why = _refusal_v4(int(carried))
        return f"carries {carried}: {why}" if why else ""
    # Outside 2000::/3 nothing is handed out: loopback, unique and site local, link-local,
    # multicast, IPv4-compatible and -translated, local NAT64, discard-only all end here.
    if address not in _GLOBAL_UNICAST:
        return "not global unicast"
    return next((why for net, why in _V6_RANGES if address in net), "")


def _refusal_v4(number: int) -> str:
    place = bisect_right(_V4_STARTS, number) - 1
    last, why = _V4_RANGES[place]
    return why if number <= last else ""


def literal(host: str) -> Address | None:
    """The address that a URL's host spells out (IPv6 in brackets or bare), or None for a name.

    Raises `ValueError` for what is neither: a spelling that some resolvers take for an address
    (`0x7f.1`, `2130706433`, `010.0.0.1`) and a strict parser does not. It must not be looked up.
    """
    bare = host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host
    try:
        return ipaddress.ip_address(bare)
    except ValueError:
        if ":" in host or "[" in host or _looks_numeric(host):
            raise ValueError(f"{host!r} is an odd spelling of an address") from None
        return None


def _looks_numeric(host: str) -> bool:
    """WHATWG's "ends in a number", and whatever else the C library would take."""
    label = host.removesuffix(".").rpartition(".")[2].lower()
    if label.isdigit() or (
        label.startswith("0x") and all(digit in "0123456789abcdef" for digit in label[2:])
    ):
        return True
    try:
        socket.inet_aton(host)
    except (OSError, UnicodeError, ValueError):
        return False
    return True
