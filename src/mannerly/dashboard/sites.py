"""The table of sites: a page of them from the frontier, with words for their state. No query here
gets longer with the crawl than its order demands (`Frontier.find_sites`)."""

from collections.abc import Mapping
from typing import Any

from mannerly.frontier.contract import Frontier, SiteOrder
from mannerly.model import RobotsState, SiteFacts, SiteState

PAGE_ROWS = 20
MOST_PAGES = 4000

_ROBOTS = {
    RobotsState.FOUND: "has rules",
    RobotsState.ABSENT: "none",
    RobotsState.UNREACHABLE: "unreachable",
}


async def table(frontier: Frontier, asked: Mapping[str, str]) -> dict[str, Any]:
    """`search`, `sort` and `page` as they stand in the address."""
    begins = asked.get("search", "").strip().lower().removeprefix("www.")[:253]
    sort = asked.get("sort", "")
    order = SiteOrder(sort) if sort in set(SiteOrder) else SiteOrder.NEXT
    number = asked.get("page", "")
    page = min(int(number), MOST_PAGES) if number.isascii() and number.isdigit() else 0
    # One more than is shown tells whether there is another page.
    found = await frontier.find_sites(
        begins=begins, order=order, skip=page * PAGE_ROWS, limit=PAGE_ROWS + 1
    )
    rows = [{**_row(facts), "robots": await _robots(frontier, facts.site)} for facts in found]
    return {
        "sites": rows[:PAGE_ROWS],
        "page": page,
        "more": len(rows) > PAGE_ROWS,
        "sort": order.value,
    }


def _row(facts: SiteFacts) -> dict[str, Any]:
    return {
        "site": facts.site,
        "state": state_of(facts),
        "why": why(facts),
        "ready_in_s": round(facts.ready_in_s, 1),
        "pages": facts.pages,
        "pending": facts.pending,
        "spilt": facts.spilt,
        "dropped": facts.dropped,
        "failures": facts.failures,
        "delay_s": facts.delay_s,
    }


def state_of(facts: SiteFacts) -> str:
    if facts.state is SiteState.EXCLUDED:
        return "excluded"
    if facts.state is SiteState.ABANDONED:
        return "abandoned"
    if facts.leased:
        return "leased"
    if not facts.pending and not facts.spilt:
        return "done"
    return "resting" if facts.ready_in_s > 0 else "ready"


def why(facts: SiteFacts) -> str:
    """Why nothing is fetched of it now; '' if something is or could be."""
    state = state_of(facts)
    if state == "abandoned":
        return f"{_failed(facts.failures)}; what it has queued is not waited for"
    if state == "excluded":
        return "somebody said no to it"
    if state == "done":
        return "all its known URLs are settled"
    if state == "resting":
        return _failed(facts.failures) if facts.failures else "its delay has not passed"
    return f"visited by {facts.holder}" if facts.leased else ""


def _failed(times: int) -> str:
    return "failed the last time" if times == 1 else f"failed {times} times in a row"


async def _robots(frontier: Frontier, site: str) -> str:
    """Of the usual origins, the first of which something is known. A few rows by key each."""
    for origin in (
        f"https://{site}",
        f"https://www.{site}",
        f"http://{site}",
        f"http://www.{site}",
    ):
        record = await frontier.robots_of(site, origin)
        if record is not None:
            return _ROBOTS[record.state]
    return "not read"
