"""Asking the store for the figures of a report."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from mannerly.audit import views
from mannerly.datadir import is_held
from mannerly.reading.asking import Answer, interruptibly, told_plainly
from mannerly.reading.opening import open_reading, roots_of
from mannerly.reporting import queries
from mannerly.reporting.costs import costs_of
from mannerly.reporting.figures import (
    BinRow,
    DepthRow,
    FailureRow,
    Figures,
    Gaps,
    LanguageRow,
    NewSitesRow,
    OutcomeRow,
    Quantiles,
    RateRow,
    RobotsRow,
    RunRow,
    SiteRow,
    StatusRow,
    Totals,
    TypeRow,
    WhyRow,
)

Row = TypeVar("Row", bound=tuple[Any, ...])

_MOST_STEPS = 120
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_STEPS_S = (
    1, 2, 5, 10, 15, 30,
    _MINUTE_S, 2 * _MINUTE_S, 5 * _MINUTE_S, 10 * _MINUTE_S, 15 * _MINUTE_S, 30 * _MINUTE_S,
    _HOUR_S, 2 * _HOUR_S, 3 * _HOUR_S, 6 * _HOUR_S, 12 * _HOUR_S,
)  # fmt: skip


def gather(data_dirs: Sequence[Path], made_at: dt.datetime) -> Figures:
    """What the stores say at this moment; the crawl may be running. Several are read as one.

    `NoCrawlError` if there is no store in a directory.
    """
    with open_reading(data_dirs) as store:
        return _Gathering(store).figures(data_dirs, made_at)


def step_for(span_s: float) -> int:
    """How long a step of the rates is, in seconds: round, and at most `_MOST_STEPS` of them."""
    for step_s in _STEPS_S:
        if span_s < step_s * _MOST_STEPS:
            return step_s
    return _DAY_S * (int(span_s) // (_DAY_S * _MOST_STEPS) + 1)


class _Gathering:
    """One look at a store. What is asked is kept, for the report to tell."""

    def __init__(self, store: duckdb.DuckDBPyConnection) -> None:
        self._store = store
        self._asked: dict[str, str] = {}

    def figures(self, data_dirs: Sequence[Path], made_at: dt.datetime) -> Figures:
        (totals,) = self._rows("totals", Totals, queries.TOTALS)
        step_s = step_for(totals.span_s)
        rates = queries.rates(_micros(totals.first_at), step_s)
        new_sites = queries.new_sites(_micros(totals.first_at), step_s)
        (size_bytes,) = self._rows("size_bytes", Quantiles, queries.SIZE_BYTES)
        (duration_s,) = self._rows("duration_s", Quantiles, queries.DURATION_S)
        return Figures(
            made_at=made_at,
            data_dirs=[str(path) for path in data_dirs],
            running=any(is_held(path) for path in data_dirs),
            totals=totals,
            step_s=step_s,
            rates=self._rows("rates", RateRow, rates),
            new_sites=self._rows("new_sites", NewSitesRow, new_sites),
            outcomes=self._rows("outcomes", OutcomeRow, queries.OUTCOMES),
            statuses=self._rows("statuses", StatusRow, queries.STATUSES),
            sizes=self._rows("sizes", BinRow, queries.SIZES),
            size_bytes=size_bytes,
            durations=self._rows("durations", BinRow, queries.DURATIONS),
            duration_s=duration_s,
            languages=self._rows("languages", LanguageRow, queries.LANGUAGES),
            types=self._rows("types", TypeRow, queries.TYPES),
            depths=self._rows("depths", DepthRow, queries.DEPTHS),
            site_sizes=self._rows("site_sizes", BinRow, queries.SITE_SIZES),
            sites_by_pages=self._rows("sites_by_pages", SiteRow, queries.SITES_BY_PAGES),
            sites_by_failures=self._rows("sites_by_failures", SiteRow, queries.SITES_BY_FAILURES),
            robots=self._rows("robots", RobotsRow, queries.ROBOTS),
            failures=self._rows("failures", FailureRow, queries.FAILURES),
            runs=self._rows("runs", RunRow, queries.RUNS),
            gaps=self._gaps(),
            costs=costs_of(roots_of(data_dirs)),
            queries=self._asked,
        )

    def _rows(self, name: str, kind: type[Row], sql: str) -> list[Row]:
        self._asked[name] = sql
        return self._answer(kind, sql)

    def _answer(self, kind: type[Row], sql: str) -> list[Row]:
        answer = Answer(self._store, sql)
        fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]  # a NamedTuple has it
        assert answer.names == list(fields), f"{kind.__name__} does not have the query's columns"
        return [kind(*row) for row in answer]

    def _execute(self, sql: str) -> None:
        with told_plainly():
            interruptibly(self._store, lambda: self._store.execute(sql))

    def _gaps(self) -> Gaps:
        """By the audit's own views, so that both say the same. They need tables of their own, which
        `mannerly query` does not make: these figures are those of `mannerly audit`."""
        for statement in (views.CHOSEN_ALL, *views.statements(one_site=False)):
            self._execute(statement)
        ((visits,),) = Answer(self._store, queries.VISITS)
        ((gaps, too_soon, margin_s),) = Answer(self._store, queries.GAPS)
        return Gaps(
            visits,
            gaps,
            too_soon,
            margin_s,
            self._answer(BinRow, queries.GAP_BINS),
            self._answer(WhyRow, queries.WHYS),
        )


def _micros(moment: dt.datetime | None) -> int:
    """Unix time; the store's instants have no zone, and are UTC."""
    if moment is None:
        return 0
    return (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # noqa: DTZ001
