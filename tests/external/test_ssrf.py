"""The address guard on the list of the suite."""

import ipaddress
import json
from pathlib import Path

from mannerly.fetch.guard import refusal


def test_every_address_of_the_list(suites: Path) -> None:
    lists = json.loads((suites / "http" / "ssrf_addresses.json").read_text())
    assert len(lists["deny_ip"]) >= 45
    assert len(lists["allow_ip"]) >= 18
    let_in = [text for text in lists["deny_ip"] if not refusal(ipaddress.ip_address(text))]
    kept_out = [text for text in lists["allow_ip"] if refusal(ipaddress.ip_address(text))]
    assert (let_in, kept_out) == ([], [])
