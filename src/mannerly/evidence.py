"""What a crawl notes of its own manners: every request, and the terms of each run.

`mannerly audit` judges a crawl from these records alone. They tell of what happened on the wire, so
they stand whatever the frontier says later of the lease or the batch (`mannerly.store.tables`).
"""

from typing import NamedTuple

from mannerly.quick import quick

ROBOTS = "robots"
PAGE = "page"
INTERRUPTED = "interrupted"
"""The failure of a request that was cut off by our own stop; it may have been on the wire."""


@quick
class RequestRecord(NamedTuple):
    """One request on the wire, whatever became of it: a row of the `requests` table.

    Instants are Unix times made from the process's own clock, which nobody sets: `RunRecord` says
    how. A request that was written again, because a kept connection turned out to be closed, is
    one row.
    """

    token: int
    """The lease under which it was made; not a column. The column `settled` says in its place
    whether the frontier accepted what followed from it."""
    writer: int
    """The process that made it, as in `RunRecord`."""
    visit: int
    """Counts the visits of a process. robots.txt and the page after it are one visit; so are the
    requests of one visit to another site that its robots.txt is at."""
    site: str
    """The site that was asked."""
    origin: str
    """The origin whose page or whose rules were asked for: of a robots.txt that redirects it is
    the first one, wherever the URL leads."""
    kind: str
    """`robots` or `page`."""
    url: str
    sent_at: float
    ended_at: float
    """When the response ended or the failure happened."""
    status: int
    failure: str
    """Name of the `Outcome`, lower case, or `interrupted`; '' if a response was read."""
    address: str
    rest_s: float
    """How long the site was to rest from `ended_at` on, unless the visit went on."""
    delay_s: float
    """The site's delay as it was known when the request was sent."""
    why: str
    """The rule that gave `rest_s`: `delay`, `crawl-delay`, `retry-after` or `back-off`."""
    robots_state: str
    """What the answer means for the origin: `found`, `absent`, `unreachable`. '' for pages, and
    for requests after which nothing is known of the rules (a redirect that was followed)."""
    robots_hash: int
    """Version of the rules: that were read here, or by which the page was allowed. 0: none."""
    robots_fetched_at: float
    """When those rules were read. For a page as the process knew it; 0: never."""
    robots_line: int
    """The line that allowed the page; 0 if no line speaks of it."""
    body: bytes
    """The rules that were read, decoded; empty for pages."""


class RunRecord(NamedTuple):
    """One process of the crawl and the terms it kept to: a row of the `runs` table."""

    writer: int
    begun_at: float
    clock: str
    """Which clock its instants come from: two runs with the same one (the same boot of the same
    machine) can be compared to the millisecond, whatever was done to the wall clock. '' if the
    system does not tell."""
    clock_offset_s: float
    """Unix time minus that clock when the run began; every instant of the run is made with it."""
    version: str
    """Of Mannerly."""
    agent: str
    """The name by which robots.txt knows us."""
    delay_s: float
    """The crawl's delay."""
    robots_ttl_s: float
    visit_timeout_s: float
    guarded: bool
    """Private addresses were refused. Not with `--allow-private-addresses`, nor with
    `--connect-to`, where the user named the address."""
