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

from mannerly.simweb import judge as manners
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Kind
from mannerly.simweb.judge import ROBOTS, Gap, Required, Violation, Visit
from mannerly.simweb.reach import reachable
from mannerly.simweb.spacing import Spacing
from mannerly.simweb.web import Web
from mannerly.url import host_of, url_hash
from tests.simulation.faults.world import (
    PRIVATE,
    SITE_KEY,
    VISIT_TIMEOUT_S,
    Accepted,
    Booted,
    LeaseGiven,
    Retired,
    World,
)

A_MOMENT_S = 0.002
"""Clocks of milliseconds, and sums of floats."""
AT_ONCE_S = 0.6


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
        *pauses(world),
        *robots(world),
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


# -- 4: the delay ------------------------------------------------------------------------------


def pauses(world: World) -> list[str]:
    delay_s = world.plan.terms.delay_s
    spacing = Spacing(world.web, delay_s, world.breaks)
    found = visits(world)

    def asked_for(gap: Gap) -> Required:
        last = gap.before.requests[-1]
        read = last.sent_whole and 200 <= last.status < 500
        if last.path == ROBOTS and not read:
            return Required(delay_s - A_MOMENT_S)  # nobody knows what it would have asked for
        required = spacing.required(gap)
        return required._replace(pause_s=required.pause_s - A_MOMENT_S)

    # From the end of the response even where the holder died: its connection died with it, and
    # whoever comes next waits for what is left of the lease, or for a delay from now.
    always = manners.too_soon(found, delay_s - A_MOMENT_S)
    return sorted({_told(it) for it in (*manners.early(found, asked_for), *always)})


def visits(world: World) -> dict[str, list[Visit]]:
    """Per site. A page belongs to the robots.txt before it, and a robots.txt to the one that led to
    it, if the same life asked for them at once; what it asked for later is a visit of its own."""
    found: dict[str, list[list[AccessRecord]]] = defaultdict(list)
    for record in sorted(world.log, key=lambda record: (record.start, record.end)):
        before = found[SITE_KEY.site_of(record.host)]
        if before and _leads_to(before[-1], record) and _at_once(world, before[-1], record):
            before[-1].append(record)
        else:
            before.append([record])
    return {
        site: [Visit(site, tuple(requests)) for requests in of_site]
        for site, of_site in found.items()
    }


def _leads_to(visit: list[AccessRecord], record: AccessRecord) -> bool:
    """Did the visit so far ask for robots.txt only, and is this what it was asked for?"""
    last = visit[-1]
    if any(it.path != ROBOTS for it in visit) or last.user_agent != record.user_agent:
        return False
    if 300 <= last.status < 400 and last.location == record.url:
        return True
    return record.path != ROBOTS and _origin(visit[0]) == _origin(record)


def _at_once(world: World, visit: list[AccessRecord], record: AccessRecord) -> bool:
    """Without a pause, but for what an address may ask for, or while it was made to wait."""
    ended_at = visit[-1].end
    if 0 <= record.start - ended_at <= AT_ONCE_S:
        return True
    breaks = world.breaks.get(record.user_agent, [])
    held_up = any(it.from_at <= record.start and it.to_at >= ended_at for it in breaks)
    return held_up and ended_at <= record.start < visit[0].start + VISIT_TIMEOUT_S


# -- 5, 8: robots.txt and private addresses ----------------------------------------------------


def robots(world: World) -> list[str]:
    named = [it for it in world.log if it.host != host_of(PRIVATE)]
    wrong: list[Violation] = [
        *manners.pages_before_robots(named),
        *manners.disallowed_requests(world.web, named),
    ]
    last: dict[str, AccessRecord] = {}
    for record in sorted(named, key=lambda record: record.start):
        origin = _origin(record)
        if record.path == ROBOTS:
            last[origin] = record
            continue
        read = last.get(origin)
        if read is not None and not (read.sent_whole and 200 <= read.status < 500):
            wrong.append(Violation(f"{record.url} was asked for though robots.txt failed", record))
    private = [it for it in world.log if it.host == host_of(PRIVATE)]
    return [*map(_told, wrong), *(f"a connection was made to {it.host}" for it in private)]


def _origin(record: AccessRecord) -> str:
    return f"{record.scheme}://{record.host}"


def _told(violation: Violation) -> str:
    return f"{violation.what} (at {violation.record.start:.3f} s, {violation.record.user_agent})"


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
