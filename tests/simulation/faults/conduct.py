"""How the crawlers behaved towards the sites, from the servers' log: delays, robots.txt, addresses.

The numbers are those of the table of invariants in the design.
"""

from collections import defaultdict

from mannerly.simweb import judge as manners
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.judge import ROBOTS, Gap, Required, Violation, Visit
from mannerly.simweb.spacing import Spacing
from mannerly.url import host_of
from tests.simulation.faults.world import PRIVATE, SITE_KEY, VISIT_TIMEOUT_S, World

A_MOMENT_S = 0.002
"""Clocks of milliseconds, and sums of floats."""
AT_ONCE_S = 0.6
"""A robots.txt and the page after it: what an IP address may make a visit wait."""

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
    if visit[-1].url in world.moved_robots:
        # What it led to is at another site, and asked for in between.
        ended_at = max(
            it.end
            for it in (*world.log, visit[-1])
            if it.user_agent == record.user_agent
            and (it is visit[-1] or (it.url == visit[-1].location and it.start < record.start))
        )
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
