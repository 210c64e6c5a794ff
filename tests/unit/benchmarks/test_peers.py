"""The comparison with other crawlers: what a turn cost is seen from outside."""

import os
import sys
from pathlib import Path

import pytest
from benchmarks.peers.__main__ import figures, table
from benchmarks.peers.roster import PEERS
from benchmarks.peers.turn import ADDRESS, Turn, hosts_file, turn
from benchmarks.web.nginx import free_port
from benchmarks.web.written import written

from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web

SPEC = preset("plain", sites=2, pages_mean=3, pages_max=6, https=0.0)
CRAWLER = """\
import sys, time
from http.client import HTTPConnection
from pathlib import Path
address, *asked = sys.argv[1:]
for url in asked:
    host, _, path = url.partition("/")
    connection = HTTPConnection(address)
    connection.request("GET", f"/{path}", headers={"Host": host})
    connection.getresponse().read()
while time.process_time() < 0.3:
    pass
print("hosts" if "www.example.invalid" in Path("/etc/hosts").read_text() else "", file=sys.stderr)
sys.exit(7)
"""


def test_a_turn_is_counted_by_the_server_and_by_the_kernel(tmp_path: Path) -> None:
    place = written(SPEC, tmp_path / "webs")
    home = Web(SPEC).home(0).removeprefix("http://")
    (place / "hosts" / "www.example.invalid").mkdir()
    hosts = hosts_file(place, tmp_path / "hosts")
    port = free_port(ADDRESS)
    asked = [home, home, f"{home}robots.txt", f"{home}nothing"]
    words = [sys.executable, "-c", CRAWLER, f"{ADDRESS}:{port}", *asked]
    # A mount takes root; the rest is the same without.
    seen = hosts if os.geteuid() == 0 else None
    done = turn(words, place, tmp_path / "turn", hosts=seen, limit_s=60, port=port)
    assert done.exit_code == 7
    assert ("hosts" in (tmp_path / "turn" / "errors.txt").read_text()) == (seen is not None)
    assert done.urls == {home}
    assert (done.sent_again, done.other_requests) == (1, 2)
    assert 0.3 <= done.cpu_s < 3
    assert done.cpu_ms_per_page == 1000 * done.cpu_s
    assert "www.example.invalid" not in Path("/etc/hosts").read_text()


def test_who_does_not_end_is_ended(tmp_path: Path) -> None:
    place = written(SPEC, tmp_path / "webs")
    words = [sys.executable, "-c", "import time; time.sleep(60)"]
    port = free_port(ADDRESS)
    done = turn(words, place, tmp_path / "turn", hosts=None, limit_s=0.5, port=port)
    assert done.exit_code == -9
    assert done.elapsed_s < 30


def test_pages_against_robots_txt_are_told() -> None:
    web = Web(preset("plain", sites=50, https=0.0))
    sites = [web.site(index) for index in range(50)]
    urls = [web.pages.url(site, number) for site in sites for number in range(site.pages)]
    barred = next(url for url in urls if not web.allowed(url))
    asked = frozenset(url.removeprefix("http://") for url in (barred, web.home(0)))
    done = Turn(asked, 0, 0, elapsed_s=2.0, cpu_s=0.006, peak_rss_mb=1.0, exit_code=0)
    told = figures("wget2", done, web)
    assert (told["pages"], told["disallowed"], told["cpu_ms_per_page"]) == (2, 1, 3.0)
    told["times_ours"] = 1.5
    assert "| wget2 | 3.00 | 1.50 | 2 | 1 | in part | no | no | bytes as files |" in table(
        {"wget2": told, "crawlee": {"left_out": "no python here"}}
    )


@pytest.mark.parametrize("name", PEERS)
def test_every_command_can_be_filled_in(name: str) -> None:
    places = dict.fromkeys(
        ("seeds", "out", "address", "mannerly", "python", "node", "packages", "wget2", "httrack"),
        "here",
    )
    assert "{" not in PEERS[name].command.format(programs="there", **places)
