"""The judgement: what the views say, as a report. What SQL cannot judge is in `rules`."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from mannerly.audit import rules, views
from mannerly.audit.views import RULES
from mannerly.errors import UsageError
from mannerly.store.read import open_store

SHOWN_PER_RULE = 100
"""Violations of one rule that are listed; all are counted."""
RATIOS = (1.0, 1.01, 1.1, 1.5, 2.0, 5.0, 20.0)
"""Bounds of the histogram of gap over what was due."""
_ROWS_AT_A_TIME = 1_000

_TOO_SOON = """
SELECT 'too soon' AS rule, site, g.writer, g.visit,
       format('{:.3f} s after the {} of visit {} of process {:x}; {:.3f} s were due ({})',
              gap_s, CASE WHEN before_settled THEN 'end' ELSE 'start' END, before_visit,
              before_writer, due_s, why) AS detail,
       other_clock, make_timestamp(begun_us) AS happened_at
FROM gaps g WHERE wrong
"""
_BELOW = """
SELECT 'below the delay' AS rule, site, writer, visit,
       format('a rest of {:.3f} s ({}), the delay is {:.3f} s', (rested_us - ended_us) / 1e6, why,
              crawl_delay_s) AS detail,
       false AS other_clock, make_timestamp(ended_us) AS happened_at
FROM visits WHERE (rested_us - ended_us) / 1e6 < crawl_delay_s - 1e-6
"""
_CROWDED = """
SELECT 'crowded visit' AS rule, site, writer, visit, format('{} pages', pages) AS detail,
       false AS other_clock, make_timestamp(begun_us) AS happened_at
FROM visits WHERE pages > 1
"""
_NO_ROBOTS = """
SELECT 'no robots.txt' AS rule, site, writer, visit, url AS detail, false AS other_clock,
       make_timestamp(sent_us) AS happened_at
FROM judged WHERE known_us IS NULL OR NOT at_home
"""
_STALE = """
SELECT 'stale robots.txt' AS rule, site, writer, visit,
       format('{}: read {:.1f} s before', url, (sent_us - reading_us) / 1e6) AS detail,
       reading_clock <> clock_name AS other_clock, make_timestamp(sent_us) AS happened_at
FROM judged WHERE (sent_us - reading_us) / 1e6 > robots_ttl_s + visit_timeout_s
"""
_VERDICTS = """
SELECT wrong.rule, site, writer, visit, url || wrong.why AS detail, false AS other_clock,
       make_timestamp(sent_us) AS happened_at
FROM judged JOIN wrong_verdicts wrong USING (agent, robots_hash, path, robots_line)
"""
_ALTERED = """
SELECT 'altered rules' AS rule, site, writer, visit, url AS detail, false AS other_clock,
       make_timestamp(sent_us) AS happened_at
FROM timed JOIN wrong_bodies USING (robots_hash) WHERE kind = 'robots'
"""
_PRIVATE = """
SELECT 'private address' AS rule, site, writer, visit,
       format('{}: {}', address, wrong.why) AS detail, false AS other_clock,
       make_timestamp(sent_us) AS happened_at
FROM timed JOIN wrong_addresses wrong USING (address) WHERE guarded
"""
_TIMES = """
SELECT 'impossible times' AS rule, site, writer, visit, url AS detail, false AS other_clock,
       make_timestamp(sent_us) AS happened_at
FROM timed WHERE ended_us < sent_us
"""
_UNKNOWN = """
SELECT 'unknown run' AS rule, site, writer, visit, url AS detail, false AS other_clock,
       make_timestamp(sent_us) AS happened_at
FROM timed WHERE clock_name IS NULL
"""
_CHECKS = (_TOO_SOON, _BELOW, _CROWDED, _NO_ROBOTS, _STALE, _VERDICTS, _ALTERED, _PRIVATE, _TIMES,
           _UNKNOWN)  # fmt: skip

_REQUESTS = """
SELECT site, strftime(sent_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS sent_at, kind, status, failure,
       CASE WHEN first THEN gap_s END AS gap_s, CASE WHEN first THEN due_s END AS due_s,
       CASE WHEN first AND due_s IS NOT NULL THEN g.why ELSE '' END AS why, t.settled, robots_hash,
       robots_line, epoch_us(robots_fetched_at) / 1e6 AS robots_fetched_at, url
FROM (SELECT *, row_number() OVER (PARTITION BY site, writer, visit ORDER BY sent_us) = 1 AS first
      FROM timed) t JOIN gaps g USING (site, writer, visit)
ORDER BY site, begun_us, sent_us
"""


class Violation(NamedTuple):
    rule: str
    site: str
    writer: int
    visit: int
    at: str
    detail: str
    other_clock: bool
    """It lies between two machines, or over a reboot: it is as true as their wall clocks."""


class SiteLine(NamedTuple):
    """A site in the summary."""

    site: str
    requests: int
    visits: int
    pages: int
    shortest_gap_s: float | None
    """Between two visits; None if there was one."""
    smallest_margin_s: float | None
    """How much longer than due, at the least."""
    violations: int


@dataclass(slots=True)
class Report:
    requests: int = 0
    pages: int = 0
    visits: int = 0
    unsettled_visits: int = 0
    """What came of them was void, or is not known yet: only the delay was due after them."""
    sites: int = 0
    runs: int = 0
    rules_read: int = 0
    """Different robots.txt that verdicts were judged by again."""
    verdicts: int = 0
    smallest_margin_s: float | None = None
    smallest_margin_site: str = ""
    histogram: dict[str, int] = field(default_factory=dict)
    """Gaps between visits by how many times as long as due they were."""
    clocks: int = 0
    """Clocks that the runs went by; between them only wall clocks can be compared."""
    wall_clock_set_by_s: float = 0.0
    """By how much a machine's wall clock was set between two runs; judged all the same."""
    counts: dict[str, int] = field(default_factory=dict)
    """Violations by rule."""
    violations: list[Violation] = field(default_factory=list)
    site_lines: list[SiteLine] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.counts


class Audit:
    """One look at the records of a crawl, also while it runs. Whoever opens closes."""

    def __init__(self, data_dirs: Sequence[Path], site: str = "") -> None:
        """`site`: judge only this one. `UsageError` if there is no store, or no such site."""
        self._closing = ExitStack()
        try:
            self._db = self._closing.enter_context(open_store(data_dirs))
            # What does not fit into memory is sorted on disk, not next to the user's files.
            spill = self._closing.enter_context(tempfile.TemporaryDirectory(prefix="mannerly-"))
            self._db.execute(f"SET temp_directory = '{spill.replace(chr(39), chr(39) * 2)}'")
            self._prepare(site)
        except BaseException:
            self._closing.close()
            raise

    def _prepare(self, site: str) -> None:
        if site:
            self._db.execute("SET VARIABLE site = ?", [site])
        self._db.execute(views.CHOSEN_SITE if site else views.CHOSEN_ALL)
        for statement in views.statements(one_site=bool(site)):
            self._db.execute(statement)
        if site and not self._one("SELECT count(*) FROM visits")[0]:
            raise UsageError(
                f"no request of a site {site} is on record; a site is a registered domain, or a "
                "host in a crawl with --site-by host"
            )

    def requests(self) -> Iterator[dict[str, object]]:
        """Every request with its gap and the verdict behind it, site by site."""
        self._db.execute(_REQUESTS)
        names = [column[0] for column in self._db.description]
        while rows := self._db.fetchmany(_ROWS_AT_A_TIME):
            yield from (dict(zip(names, row, strict=True)) for row in rows)

    def judge(self, *, sites: int = 20) -> Report:
        """All of it. `sites`: how many are told of one by one, the worst first; 0 for all."""
        report = Report()
        report.rules_read, report.verdicts = rules.judge_again(self._db)
        rules.judge_addresses(self._db)
        self._db.execute(f"CREATE TEMP TABLE violations AS {' UNION ALL '.join(_CHECKS)}")
        self._count(report)
        self._histogram(report)
        counts = "SELECT rule, count(*) FROM violations GROUP BY ALL"
        found = dict(self._db.execute(counts).fetchall())
        report.counts = {rule: found[rule] for rule in RULES if rule in found}
        report.violations = self._violations()
        report.site_lines = self._site_lines(sites)
        return report

    def _count(self, report: Report) -> None:
        report.requests, report.pages = self._one(
            "SELECT coalesce(sum(requests), 0)::BIGINT, coalesce(sum(pages), 0)::BIGINT FROM visits"
        )
        report.visits, report.unsettled_visits, report.sites, report.runs = self._one(
            "SELECT count(*), count(*) FILTER (NOT settled), count(DISTINCT site), "
            "count(DISTINCT writer) FROM visits"
        )
        margin = "SELECT margin_s, site FROM gaps WHERE margin_s IS NOT NULL ORDER BY 1, 2 LIMIT 1"
        for report.smallest_margin_s, report.smallest_margin_site in self._db.execute(
            margin
        ).fetchall():
            pass
        report.clocks, report.wall_clock_set_by_s = self._one(
            "SELECT count(DISTINCT clock_name), coalesce(max(set_by_s), 0) FROM terms"
        )

    def _histogram(self, report: Report) -> None:
        cases = " ".join(f"WHEN gap_s / due_s < {bound} THEN {n}" for n, bound in enumerate(RATIOS))
        found = dict(
            self._db.execute(
                f"SELECT CASE {cases} ELSE {len(RATIOS)} END, count(*) FROM gaps "  # noqa: S608
                "WHERE due_s > 0 GROUP BY ALL"
            ).fetchall()
        )
        bounds = ["0", *(f"{bound:g}" for bound in RATIOS)]
        labels = [f"{low} to {high}" for low, high in pairwise(bounds)]
        labels.append(f"{bounds[-1]} and more")
        report.histogram = {label: found.get(n, 0) for n, label in enumerate(labels)}

    def _violations(self) -> list[Violation]:
        rows = self._db.execute(
            "SELECT rule, site, writer, visit, strftime(happened_at, '%Y-%m-%dT%H:%M:%S.%fZ'), "
            "detail, coalesce(other_clock, false) FROM violations "
            "QUALIFY row_number() OVER (PARTITION BY rule ORDER BY happened_at, site) <= ? "
            "ORDER BY happened_at, site, rule",
            [SHOWN_PER_RULE],
        ).fetchall()
        return [Violation(*row) for row in rows]

    def _site_lines(self, sites: int) -> list[SiteLine]:
        limit = f"LIMIT {sites}" if sites else ""
        rows = self._db.execute(
            "WITH found AS (SELECT site, count(*) AS violations FROM violations GROUP BY ALL) "  # noqa: S608
            "SELECT site, sum(requests)::BIGINT, count(*), sum(pages)::BIGINT, min(gap_s), "
            "min(margin_s), coalesce(any_value(violations), 0) AS wrong "
            "FROM gaps LEFT JOIN found USING (site) GROUP BY site "
            f"ORDER BY wrong DESC, min(margin_s) NULLS LAST, site {limit}"
        ).fetchall()
        return [SiteLine(*row) for row in rows]

    def _one(self, sql: str) -> tuple[int, ...]:
        row = self._db.execute(sql).fetchone()
        assert row is not None
        return tuple(row)

    def close(self) -> None:
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
