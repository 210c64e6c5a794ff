"""The questions of a report, in SQL over the views of `mannerly query`.

Each answer has few rows, whatever the size of the crawl. Those over the store's views need no more
memory than the crawl has sites: quantiles are taken of counts by value, and a histogram counts on a
logarithmic scale, where bin `n` begins at `base ** (n / parts)`. The audit's tables have a row for
each visit; DuckDB spills what does not fit.
"""

from typing import NamedTuple

TOP = 20
"""Rows of a list that is cut."""
EXAMPLES = 3
_NAMES_CHARS = 60

TOTALS = """\
SELECT * FROM (
    SELECT
        count(*) AS urls,
        count(DISTINCT site) AS sites,
        count(*) FILTER (outcome = 'fetched') AS fetched,
        count(*) FILTER (outcome = 'redirected') AS redirected,
        count(*) FILTER (outcome IN ('disallowed', 'robots_unreachable', 'excluded')) AS disallowed,
        count(*) FILTER (outcome NOT IN
            ('fetched', 'redirected', 'disallowed', 'robots_unreachable', 'excluded')) AS failures,
        coalesce(sum(wire_bytes), 0)::BIGINT AS wire_bytes,
        min(fetched_at) AS first_at,
        max(fetched_at) AS last_at
    FROM fetches
), (
    SELECT
        count(*) AS pages,
        coalesce(sum(body_bytes), 0)::BIGINT AS body_bytes,
        count(*) FILTER (duplicate <> '') AS duplicates,
        count(*) FILTER (truncated) AS truncated,
        coalesce(sum(links), 0)::BIGINT AS links
    FROM pages
), (
    SELECT count(*) AS requests, count(*) FILTER (kind = 'robots') AS robots_requests FROM requests
), (
    SELECT count(DISTINCT writer) AS processes FROM runs
)"""

OUTCOMES = """\
SELECT outcome, count(*) AS urls FROM fetches GROUP BY ALL ORDER BY urls DESC, outcome"""

STATUSES = f"""\
SELECT status, count(*) AS urls FROM fetches WHERE status > 0
GROUP BY ALL ORDER BY urls DESC, status LIMIT {TOP}"""

LANGUAGES = f"""\
SELECT left(split_part(language, '-', 1), {_NAMES_CHARS}) AS language, count(*) AS pages,
    count(DISTINCT site) AS sites
FROM pages GROUP BY 1 ORDER BY pages DESC, 1 LIMIT {TOP}"""

TYPES = f"""\
SELECT left(lower(trim(split_part(content_type, ';', 1))), {_NAMES_CHARS}) AS content_type,
    count(*) AS urls, sum(wire_bytes)::BIGINT AS wire_bytes
FROM fetches WHERE status > 0 GROUP BY 1 ORDER BY urls DESC, 1 LIMIT {TOP}"""

DEPTHS = f"""\
SELECT depth, count(*) AS urls, count(*) FILTER (outcome = 'fetched') AS fetched
FROM fetches GROUP BY depth ORDER BY depth LIMIT {TOP}"""

SITES_BY_PAGES = f"""\
SELECT site, urls, pages, failures, wire_bytes FROM sites
WHERE pages > 0 ORDER BY pages DESC, site LIMIT {TOP}"""

SITES_BY_FAILURES = f"""\
SELECT site, urls, pages, failures, wire_bytes FROM sites
WHERE failures > 0 ORDER BY failures DESC, site LIMIT {TOP}"""

ROBOTS = """\
SELECT robots_state AS state, count(DISTINCT origin) AS origins, count(*) AS readings
FROM requests WHERE kind = 'robots' AND robots_state <> ''
GROUP BY ALL ORDER BY origins DESC, state"""

# Examples by hash are a draw that comes out the same each time, and seldom all of one site.
FAILURES = f"""\
SELECT outcome, status, count(*) AS urls, count(DISTINCT site) AS sites,
    arg_min(detail, url_hash) AS detail, arg_min(url, url_hash, {EXAMPLES}) AS examples
FROM fetches
WHERE outcome NOT IN ('fetched', 'redirected', 'disallowed', 'excluded')
GROUP BY outcome, status ORDER BY urls DESC, outcome, status LIMIT {TOP}"""

RUNS = f"""\
SELECT version, agent, delay_s, count(DISTINCT writer) AS processes, min(begun_at) AS first_at,
    max(begun_at) AS last_at
FROM runs GROUP BY version, agent, delay_s ORDER BY first_at, version, agent, delay_s LIMIT {TOP}"""


class Scale(NamedTuple):
    """How a histogram counts."""

    base: int
    parts: int

    def edge(self, number: int) -> float:
        return float(self.base ** (number / self.parts))

    def bin_of(self, value: str) -> str:
        """In SQL. Rounded, since a logarithm of exactly 1000 may come out below 3."""
        logarithm = f"ln({value}) / ln({self.base}) * {self.parts}"
        return f"floor(round({logarithm}, 9))::INTEGER"


BYTES = Scale(10, 8)
SECONDS = Scale(10, 8)
PAGES = Scale(2, 1)
TIMES_DUE = Scale(10, 20)


def histogram(scale: Scale, value: str, source: str) -> str:
    return (
        f"SELECT {scale.bin_of(value)} AS bin, count(*) AS rows\n"
        f"FROM {source} GROUP BY bin ORDER BY bin"
    )


def quantiles(value: str, source: str, unit: int = 1) -> str:
    """Exact, of whole numbers, of which there are fewer different ones than rows; told in units of
    `unit` of them."""
    return f"""\
WITH counted AS (
    SELECT {value} AS value, count(*) AS times FROM {source} GROUP BY ALL
), ranked AS (
    SELECT *, sum(times) OVER (ORDER BY value) AS rank, sum(times) OVER () AS total FROM counted
)
SELECT
    min(value) FILTER (rank >= 0.5 * total) / {unit} AS p50,
    min(value) FILTER (rank >= 0.9 * total) / {unit} AS p90,
    min(value) FILTER (rank >= 0.99 * total) / {unit} AS p99,
    sum(value * times) / any_value(total) / {unit} AS mean,
    max(value) / {unit} AS most
FROM ranked"""


SIZES = histogram(BYTES, "body_bytes", "pages WHERE body_bytes > 0")
SIZE_BYTES = quantiles("body_bytes", "pages")
DURATIONS = histogram(SECONDS, "duration_s", "fetches WHERE status > 0 AND duration_s > 0")
DURATION_S = quantiles("round(1000 * duration_s)", "fetches WHERE status > 0", 1000)
"""Exact to a millisecond."""
SITE_SIZES = histogram(PAGES, "pages", "sites WHERE pages > 0")


def rates(first_us: int, step_s: int) -> str:
    """By steps of time from an instant (microseconds of Unix time) on."""
    return f"""\
SELECT (epoch_us(fetched_at) - {first_us}) // {step_s * 1_000_000} AS step,
    count(*) FILTER (outcome = 'fetched') AS fetched,
    count(*) FILTER (outcome <> 'fetched') AS others,
    sum(wire_bytes)::BIGINT AS wire_bytes
FROM fetches GROUP BY step ORDER BY step"""


def new_sites(first_us: int, step_s: int) -> str:
    """Sites by the step in which their first URL was settled."""
    return f"""\
SELECT (epoch_us(first_at) - {first_us}) // {step_s * 1_000_000} AS step, count(*) AS sites
FROM (SELECT min(fetched_at) AS first_at FROM fetches GROUP BY site)
GROUP BY step ORDER BY step"""


# Over the tables that `mannerly.audit.views` makes.
VISITS = "SELECT count(*) FROM visits"
GAPS = """\
SELECT count(*) FILTER (due_s > 0), count(*) FILTER (wrong), min(margin_s) FROM gaps"""
GAP_BINS = histogram(
    TIMES_DUE,
    "least(greatest(gap_s / due_s, 0.1), 100)",
    "gaps WHERE due_s > 0",
)
WHYS = """\
SELECT why, count(*) AS visits FROM gaps WHERE due_s > 0 GROUP BY ALL ORDER BY visits DESC, why"""
