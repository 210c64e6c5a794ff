"""What must always hold, checked from the world's records and the files that are left.

Nothing here asks a crawler what it thinks: requests are those in the servers' log, leases and
commits are what the frontier's border saw, the frontier is a SQLite file, the store is Parquet
files that are read as such. The numbers are those of the table of invariants in the design.
"""

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from mannerly.simweb.answer import Kind
from mannerly.simweb.judge import ROBOTS
from mannerly.simweb.reach import reachable
from mannerly.simweb.web import Web
from mannerly.url import host_of, url_hash
from tests.simulation.faults import conduct
from tests.simulation.faults.world import (
    Accepted,
    Booted,
    LeaseGiven,
    Retired,
    World,
)

A_MOMENT_S = 0.002
"""The frontier's clock has milliseconds."""


class Judged(NamedTuple):
    violations: list[str]
    pages: int


class Row(NamedTuple):
    writer: int
    url: str
    outcome: str
    """'' in the table of pages."""


def judge(world: World) -> Judged:
    fetches, pages = rows_of(world, "fetches"), rows_of(world, "pages")
    violations = [
        *world.failures,
        *leases(world),
        *completeness(world, fetches, pages),
        *agreement(world, fetches, pages),
        *conduct.pauses(world),
        *conduct.robots(world),
        *repeats(world),
        *leftovers(world),
    ]
    return Judged(violations, len(pages))


def rows_of(world: World, table: str) -> list[Row]:
    """The rows of all Parquet files of a table."""
    rows = []
    columns = ["url", "outcome"] if table == "fetches" else ["url"]
    for path in (it for at in world.data_dirs for it in sorted((at / table).glob("[!.]*.parquet"))):
        writer = int(path.name.partition("-")[0], 16)
        try:
            read: dict[str, list[Any]] = pq.read_table(
                path, columns=columns, use_threads=False
            ).to_pydict()
        except (OSError, ValueError) as exc:
            world.failures.append(f"{path.name} of {table} cannot be read: {exc}")
            continue
        outcomes = read.get("outcome", [""] * len(read["url"]))
        rows += [Row(writer, *pair) for pair in zip(read["url"], outcomes, strict=True)]
    return rows


# -- 1, 3: nothing is lost, nothing is there twice ---------------------------------------------


def is_page(web: Web, url: str) -> bool:
    """Does it end up in the store?"""
    answer = web.answer(url, attempt=100)
    return answer.status == 200 and answer.kind is not Kind.SITEMAP and not answer.noindex


def completeness(world: World, fetches: list[Row], pages: list[Row]) -> list[str]:
    expected = reachable(world.web, world.homes)
    told = Counter(row.url for row in fetches)
    stored = Counter(row.url for row in pages)
    wanted = {url for url in expected if is_page(world.web, url)}
    asked = {it.url for it in world.log if it.path != ROBOTS}
    return [
        *(f"{url} was lost: nothing in the store tells of it" for url in expected - told.keys()),
        *(f"{url} was fetched and is not in the store" for url in wanted - stored.keys()),
        *(
            f"{url} was never asked for"
            for url in expected - asked
            if world.web.site_at(host_of(url)) is not None
        ),
        *(f"{url} is told of {n} times" for url, n in told.items() if n > 1),
        *(f"{url} is stored {n} times" for url, n in stored.items() if n > 1),
        *(f"{url} is stored and should not be" for url in stored.keys() - wanted),
    ]


# -- 2: one live lease a site; what is stale is void -------------------------------------------


def leases(world: World) -> list[str]:
    wrong = []
    live: dict[int, LeaseGiven] = {}
    for it in world.seen:
        match it:
            case LeaseGiven():
                held = live.get(it.site)
                if held is not None and held.lapses_at > it.at + A_MOMENT_S:
                    wrong.append(f"site {it.site} was leased at {it.at:.3f} s though it was held")
                live[it.site] = it
            case Retired():
                live = {site: held for site, held in live.items() if held.writer != it.writer}
            case Booted():
                # Whoever held them is dead.
                live = {site: held._replace(lapses_at=0.0) for site, held in live.items()}
            case Accepted():
                wrong += _stale(it, live)
                for released in it.commit.released:
                    if released.token not in it.refused:
                        live.pop(released.handle, None)
    return wrong


def _stale(accepted: Accepted, live: dict[int, LeaseGiven]) -> list[str]:
    commit = accepted.commit
    parts = {
        (part.handle, part.token)
        for some in (commit.settled, commit.deferred, commit.released, commit.robots)
        for part in some
    }
    return [
        f"a stale lease of site {site} was accepted at {accepted.at:.3f} s"
        for site, token in sorted(parts)
        if token not in accepted.refused and (site not in live or live[site].token != token)
    ]


# -- 3: the frontier and the store agree -------------------------------------------------------


def agreement(world: World, fetches: list[Row], pages: list[Row]) -> list[str]:
    settled_by: dict[int, list[int]] = defaultdict(list)
    for it in world.seen:
        if isinstance(it, Accepted):
            for part in it.commit.settled:
                if part.token not in it.refused:
                    settled_by[part.hash].append(it.writer)
    with closing(sqlite3.connect(world.root / "frontier.db")) as database:
        settled = {h for (h,) in database.execute("SELECT hash FROM seen WHERE outcome <> 0")}
        pending = database.execute("SELECT count(*) FROM seen WHERE outcome = 0").fetchone()[0]
    told = {url_hash(row.url): row for row in fetches}
    got = {(it.user_agent, it.url) for it in world.log if it.status == 200 and it.sent_whole}
    return [
        *([f"{pending} URLs are still pending"] if pending else []),
        *(f"{told[h].url} is told of and not settled" for h in told.keys() - settled),
        *(f"the settled URL {h:x} is told of nowhere" for h in settled - told.keys()),
        *(f"{h:x} was settled {len(by)} times" for h, by in settled_by.items() if len(by) > 1),
        *(
            f"{row.url} is told of by {world.writers.get(row.writer)}, who did not settle it"
            for h, row in told.items()
            if h in settled_by and row.writer not in settled_by[h]
        ),
        *(
            f"{row.url} is stored by {world.writers.get(row.writer)}, who did not get it"
            for row in pages
            if (world.writers.get(row.writer, ""), row.url) not in got
        ),
    ]


# -- 6, 7, 11: what is repeated, and what is left behind ---------------------------------------


def repeats(world: World) -> list[str]:
    """No URL is asked for again once it is settled, and what a kill costs is one checkpoint."""
    settled_at: dict[int, float] = {}
    for it in world.seen:
        if isinstance(it, Accepted):
            for part in it.commit.settled:
                if part.token not in it.refused:
                    settled_at.setdefault(part.hash, it.at)
    wrong = []
    for record in world.log:
        if record.path == ROBOTS:
            continue
        at = settled_at.get(url_hash(record.url))
        if at is not None and record.start > at:
            wrong.append(
                f"{record.url} was asked for at {record.start:.3f} s, after it was settled"
            )
        breaks = world.breaks.get(record.user_agent, [])
        if record.status == 200 and len(breaks) == 1 and record.user_agent not in world.troubled:
            lost_s = breaks[0].from_at - record.end
            unsettled = at is None or at > breaks[0].from_at
            if unsettled and lost_s > world.plan.terms.checkpoint_s + 1:
                wrong.append(f"{record.url} was not made durable for {lost_s:.1f} s")
    return wrong


def leftovers(world: World) -> list[str]:
    """All is rolled, nothing was damaged, and no lease is held by anybody."""
    left: list[Path] = []
    for at in world.data_dirs:
        left += [*(at / "journal").glob("*/*.seg"), *at.rglob("*.tmp"), *at.glob("lost+found/*")]
    with closing(sqlite3.connect(world.root / "frontier.db")) as database:
        held = database.execute("SELECT count(*) FROM clock WHERE token <> 0").fetchone()[0]
    return [
        *(f"{path.relative_to(world.root)} was left behind" for path in sorted(left)),
        *([f"{held} leases are held by nobody who lives"] if held else []),
    ]
