"""Nothing private is ever connected to, however it is written and whoever names it.

Each address of the suite, many odd spellings and names of every kind of DNS trickery are tried as a
seed, as a link, as the target of a redirect and of a robots.txt's redirect, in a network where
every address has a listener (tests/external/victims.py).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mannerly.errors import UrlError
from mannerly.store.read import open_store
from mannerly.url import canonical
from tests.external.victims import GAMES, HARMLESS, REBINDING, WAYS


def played(directory: Path, suites: Path, how: str) -> dict[str, Any]:
    command = ["unshare", "--map-root-user", "--net", sys.executable, "-m",
               "tests.external.victims", str(directory),
               str(suites / "http" / "ssrf_addresses.json"), how]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def outcomes(directory: Path) -> dict[str, str]:
    with open_store(directory / "data") as store:
        return dict(store.execute("SELECT url, outcome FROM fetches").fetchall())


def addressed(host: str, path: str) -> str:
    """The URL in canonical form, '' if it is none."""
    try:
        return canonical(f"http://{host}{path}")
    except UrlError:
        return ""


@pytest.mark.timeout(300)
def test_no_victim_is_ever_connected_to(tmp_path: Path, suites: Path) -> None:
    told = played(tmp_path, suites, "guarded")
    assert set(told["connected"]) == set(told["public"])
    settled = outcomes(tmp_path)
    refused = 0
    for way in WAYS:
        for at, host in enumerate(told["hosts"]):
            url = addressed(host, f"/{way}/{at}")
            if not url:
                continue
            expected = "fetched" if host in HARMLESS else "address_refused"
            assert (url, settled.get(url)) == (url, expected)
            refused += expected == "address_refused"
    assert refused > 3 * 140
    for at, host in enumerate(told["hosts"]):
        # A robots.txt that is nowhere we go means no.
        if host not in HARMLESS:
            outcome = settled[f"http://robots-{at}.test/open"]
            assert (host, outcome) == (host, "robots_unreachable")
    for name in REBINDING:
        assert settled[f"http://{name}/first"] == "fetched"
        assert settled[f"http://{name}/again"] == "address_refused"
    assert told["asked_again"] == [{"A": 2, "CNAME": 0, "AAAA": 0}, {"A": 2, "CNAME": 0, "AAAA": 2}]


@pytest.mark.timeout(300)
def test_without_the_guard_the_victims_are_reached(tmp_path: Path, suites: Path) -> None:
    """The control: it is the guard that keeps the crawler away, and nothing else."""
    told = played(tmp_path, suites, "open")
    reached = set(told["connected"]) - set(told["public"])
    assert len(told["reachable"]) >= 35
    assert len(reached) >= 35
    settled = outcomes(tmp_path)
    for at, host in enumerate(told["hosts"]):
        if host.strip("[]") in told["reachable"] or host in GAMES:
            url = addressed(host, f"/seed/{at}")
            assert (url, settled.get(url)) == (url, "fetched")
