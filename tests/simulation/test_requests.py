"""The crawl's own record of its requests, against what the simulated web has seen."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from mannerly.audit import Audit
from mannerly.politeness.gate import version_of
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from mannerly.url import SiteKey, host_of
from tests.simulation.test_manners import DELAY_S, robots_elsewhere, robots_of
from tests.simulation.test_whole_crawl import SMALL
from tests.simulation.world import live

Seen = Counter[tuple[str, int, int, int]]


def seen_by_web(records: Iterable[AccessRecord]) -> Seen:
    return Counter((r.url, r.status, round(r.start * 1e6), round(r.end * 1e6)) for r in records)


def noted(data_dir: Path) -> Seen:
    with open_store(data_dir) as store:
        rows = store.execute(
            "SELECT url, status, epoch_us(sent_at), epoch_us(ended_at) FROM requests"
        ).fetchall()
    return Counter(rows)


def wrong(data_dir: Path) -> dict[str, int]:
    """What the audit finds. The simulated web lives in a network that nobody may connect to."""
    with Audit([data_dir]) as audit:
        counts = audit.judge().counts
    assert counts.pop("private address") > 0
    return counts


@pytest.mark.parametrize("seed", range(2))
def test_every_request_is_noted_and_none_that_was_not_made(tmp_path: Path, seed: int) -> None:
    web = Web(preset("mixed", seed=seed, sites=80, **SMALL))
    lived = live(web, tmp_path, seed=seed, bare=True, delay=DELAY_S, max_pages=300)
    assert noted(tmp_path) == seen_by_web(lived.records)
    assert wrong(tmp_path) == {}
    with open_store(tmp_path) as store:
        failures = {row[0] for row in store.execute("SELECT failure FROM requests").fetchall()}
        rules = {row[0] for row in store.execute("SELECT why FROM requests").fetchall()}
        (unsettled,) = store.execute("SELECT count(*) FROM requests WHERE NOT settled").fetchall()
        bodies = store.execute(
            "SELECT url, robots_hash, body FROM requests WHERE robots_state = 'found'"
        ).fetchall()
        runs = store.execute("SELECT delay_s, agent, guarded FROM runs").fetchall()
    assert "" in failures
    assert failures & {"timed_out", "broken"}
    assert {"delay", "back-off"} <= rules
    assert unsettled == (0,)
    assert runs == [(DELAY_S, "mannerly", True)]
    assert all(version_of(body) == version for _, version, body in bodies)
    assert any(body for _, _, body in bodies)


def test_a_request_of_a_claimed_site_is_that_sites(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=40, **SMALL))
    lived, hub, others = robots_elsewhere(web, tmp_path, robots_ttl=0.0, max_tries=3)
    assert noted(tmp_path) == seen_by_web(lived.records)
    assert wrong(tmp_path) == {}
    site_of = SiteKey().site_of
    with open_store(tmp_path) as store:
        rows = store.execute(
            "SELECT url, site, origin || '/robots.txt', robots_state FROM requests "
            "WHERE kind = 'robots'"
        ).fetchall()
    assert all(site == site_of(host_of(url)) for url, site, _, _ in rows)
    led = {asked for url, _, asked, state in rows if url == robots_of(hub) and state}
    assert {robots_of(home) for home in others} & led, "the rules stand with who asked for them"
