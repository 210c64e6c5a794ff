"""The audit's view of the records, in SQL: millions of rows are judged by window functions.

    timed     every request, with the terms of its run and its instants on comparable clocks
    visits    what belongs together: the requests of one visit to one site
    gaps      each visit with the one before it on its site, and what was due between them
    judged    every page with the reading of robots.txt that it rests on

Instants are whole microseconds. Those of one clock are moved by one common offset, the one of its
latest run, so the gaps between them are what that clock measured, whatever the wall clock did.
"""

from mannerly.politeness.pacing import MOMENT_S

RULES = {
    "too soon": "the site was visited before the rest that was due had passed",
    "below the delay": "a site was given a rest shorter than the crawl's delay",
    "crowded visit": "more than one page was asked for in one visit",
    "no robots.txt": "a page was asked for without its origin's robots.txt read before",
    "stale robots.txt": "a page was asked for by a robots.txt older than it may be believed",
    "disallowed": "robots.txt, judged again, does not allow the page",
    "other line": "robots.txt, judged again, allows the page by another line than recorded",
    "altered rules": "the recorded robots.txt is not the one by which pages were allowed",
    "private address": "a private address was connected to",
    "impossible times": "a request ended before it was sent",
    "unknown run": "nothing is known of the process that made the request, nor of its terms",
}

SLACK_S = 0.001
SLACK_SHARE = 0.0005
"""How far below what is due a gap may be: the frontier's database may be on another machine, and
two clocks drift apart by as much as 500 parts in a million. Less than the moment that is added to
every delay, so the delay itself is kept even then (up to 98 s)."""

_RUNS = """
CREATE TEMP TABLE terms AS
WITH named AS (
    SELECT *, CASE WHEN clock = '' THEN 'process ' || writer ELSE clock END AS clock_name,
           epoch_us(begun_at) - CAST(round(clock_offset_s * 1e6) AS BIGINT) AS begun_on_clock
    FROM runs
), latest AS (
    SELECT clock_name, arg_max(clock_offset_s, begun_on_clock) AS offset_s,
           max(clock_offset_s) - min(clock_offset_s) AS set_by_s
    FROM named GROUP BY ALL
)
SELECT DISTINCT ON (writer) writer, clock_name, set_by_s, agent, delay_s AS crawl_delay_s,
       robots_ttl_s, visit_timeout_s, guarded,
       CAST(round((offset_s - clock_offset_s) * 1e6) AS BIGINT) AS shift_us
FROM named JOIN latest USING (clock_name)
"""

_TIMED = """
CREATE TEMP VIEW timed AS
SELECT r.* EXCLUDE (body), t.* EXCLUDE (writer),
       epoch_us(sent_at) + coalesce(shift_us, 0) AS sent_us,
       epoch_us(ended_at) + coalesce(shift_us, 0) AS ended_us,
       epoch_us(robots_fetched_at) + coalesce(shift_us, 0) AS read_us,
       CAST(round(rest_s * 1e6) AS BIGINT) AS rest_us
FROM chosen r LEFT JOIN terms t USING (writer)
"""

_VISITS = """
CREATE TEMP TABLE visits AS
SELECT site, writer, visit, any_value(clock_name) AS clock_name,
       count(*) AS requests, count(*) FILTER (kind = 'page') AS pages,
       min(sent_us) AS begun_us, max(ended_us) AS ended_us, max(ended_us + rest_us) AS rested_us,
       bool_and(settled) AS settled, arg_max(why, ended_us + rest_us) AS why,
       any_value(crawl_delay_s) AS crawl_delay_s,
       greatest(any_value(crawl_delay_s), max(delay_s) - {moment_s}) AS known_delay_s
FROM timed WHERE {of_site} GROUP BY site, writer, visit
"""

_GAPS = """
CREATE TEMP TABLE gaps AS
WITH pairs AS (
    SELECT *, lag(begun_us) OVER w AS before_begun_us, lag(ended_us) OVER w AS before_ended_us,
           lag(rested_us) OVER w AS before_rested_us, lag(settled) OVER w AS before_settled,
           lag(known_delay_s) OVER w AS before_delay_s, lag(clock_name) OVER w AS before_clock,
           lag(writer) OVER w AS before_writer, lag(visit) OVER w AS before_visit,
           lag(why) OVER w AS before_why
    FROM visits WINDOW w AS (PARTITION BY site ORDER BY begun_us, writer, visit)
)
SELECT * EXCLUDE (why), (begun_us - since_us) / 1e6 AS gap_s, (due_us - since_us) / 1e6 AS due_s,
       (begun_us - due_us) / 1e6 AS margin_s,
       CASE WHEN before_settled THEN before_why ELSE 'delay' END AS why,
       before_clock IS NOT NULL AND before_clock <> clock_name AS other_clock,
       before_begun_us IS NOT NULL
       AND (begun_us - due_us) / 1e6 < -({slack_s} + {share} * (due_us - since_us) / 1e6) AS wrong
FROM (
    SELECT *,
           CASE WHEN before_settled THEN before_ended_us ELSE before_begun_us END AS since_us,
           CASE WHEN before_settled THEN before_rested_us
                ELSE before_begun_us + CAST(before_delay_s * 1e6 AS BIGINT) END AS due_us
    FROM pairs
)
"""

_JUDGED = """
CREATE TEMP VIEW judged AS
WITH pages AS (SELECT * FROM timed WHERE kind = 'page' AND {of_site}),
readings AS (
    SELECT origin AS at_origin, robots_hash AS at_hash, ended_us AS known_us,
           read_us AS reading_us, clock_name AS reading_clock
    FROM timed WHERE kind = 'robots' AND robots_state IN ('found', 'absent')
)
SELECT pages.*, known_us, reading_us, reading_clock, substr(url, length(origin) + 1) AS path,
       starts_with(url, origin || '/') AS at_home
FROM pages ASOF LEFT JOIN readings
     ON origin = at_origin AND robots_hash = at_hash AND sent_us >= known_us
"""


def statements(*, one_site: bool) -> list[str]:
    """What makes the views over `chosen`, the requests to be judged. For one site that table also
    has requests of others, because that site's rules may have been read elsewhere."""
    of_site = "site = getvariable('site')" if one_site else "true"
    return [
        _RUNS,
        _TIMED,
        _VISITS.format(moment_s=MOMENT_S, of_site=of_site),
        _GAPS.format(slack_s=SLACK_S, share=SLACK_SHARE),
        _JUDGED.format(of_site=of_site),
    ]


CHOSEN_ALL = "CREATE TEMP VIEW chosen AS SELECT * FROM requests"
CHOSEN_SITE = """
CREATE TEMP VIEW chosen AS SELECT * FROM requests
WHERE site = getvariable('site') OR origin IN (
    SELECT DISTINCT origin FROM requests WHERE site = getvariable('site') AND kind = 'page')
"""
