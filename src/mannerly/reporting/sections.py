"""The sections of the page: what each shows of the figures, in plots, tables and words."""

from collections.abc import Callable, Sequence

from mannerly.reporting import plots, queries
from mannerly.reporting.figures import BinRow, Figures, Quantiles, SiteRow
from mannerly.reporting.layout import Amount, figure, note, section, table
from mannerly.reporting.markup import Markup, element, joined, link
from mannerly.reporting.plots import Bar, Block, Mark, Told
from mannerly.reporting.queries import Scale
from mannerly.reporting.scales import (
    bytes_text,
    powers_between,
    seconds_power,
    seconds_text,
    short,
    times_text,
)

_BARS = 12
"""Rows of a plot of bars; the table below it may have more."""
_DISK_ROWS = 8
_MILLION = 1_000_000


def outcomes(figures: Figures) -> Markup:
    outcome = Told("outcomes", "What became of the URLs", "Settled URLs by outcome.")
    status = Told("statuses", "Answers", "Settled URLs by HTTP status, where there was an answer.")
    shares = [(row.outcome.replace("_", " "), row.urls) for row in figures.outcomes]
    statuses = [(str(row.status), row.urls) for row in figures.statuses]
    return joined(
        _ranking(outcome, ("outcome", "URLs"), shares, figures.queries["outcomes"]),
        _ranking(status, ("status", "URLs"), statuses, figures.queries["statuses"]),
    )


def sizes_and_times(figures: Figures) -> Markup:
    words = _quantile_words(figures.size_bytes, bytes_text)
    size = Told("sizes", "Sizes of pages", f"Stored pages by bytes of body, decoded. {words}")
    words = _quantile_words(figures.duration_s, seconds_text)
    time = Told("durations", "Response times", f"Answers, from request to end. {words}")
    return joined(
        _histogram(size, queries.BYTES, figures.sizes,
                   _quantile_marks(figures.size_bytes, bytes_text), bytes_text,
                   "bytes of the body", "pages", figures.queries["sizes"]),
        _histogram(time, queries.SECONDS, figures.durations,
                   _quantile_marks(figures.duration_s, seconds_text), seconds_power,
                   "time from request to end of response", "answers", figures.queries["durations"]),
    )  # fmt: skip


def found(figures: Figures) -> Markup:
    language = Told("languages", "Languages", "Stored pages by the language that they declare.")
    kind = Told("types", "Kinds of content", "Answers by content type.")
    depth = Told("depths", "Depth", "Settled URLs by the number of links from a seed.")
    per_site = Told("site-sizes", "Pages of a site", "Sites by how many pages of them are stored.")
    languages = [(row.language or "not declared", row.pages) for row in figures.languages]
    types = [(row.content_type or "not told", row.urls) for row in figures.types]
    depths = [(str(row.depth), row.urls) for row in figures.depths]
    return joined(
        _ranking(language, ("language", "pages"), languages, figures.queries["languages"]),
        _ranking(kind, ("content type", "URLs"), types, figures.queries["types"]),
        _ranking(depth, ("links from a seed", "URLs"), depths, figures.queries["depths"]),
        _histogram(per_site, queries.PAGES, figures.site_sizes, [], short,
                   "stored pages of the site", "sites", figures.queries["site_sizes"]),
    )  # fmt: skip


def sites(figures: Figures) -> Markup:
    return joined(
        _site_table("Sites by pages", figures.sites_by_pages, figures.queries["sites_by_pages"]),
        _site_table(
            "Sites by failures", figures.sites_by_failures, figures.queries["sites_by_failures"]
        ),
    )


def politeness(figures: Figures) -> Markup:
    gaps = figures.gaps
    told = Told(
        "gaps",
        "Rests between visits",
        "Gaps between two visits to a site, as multiples of the rest that was due: the delay, a "
        "crawl-delay, a Retry-After or a back-off. Left of 1 is too soon.",
    )
    margin = "no site was visited twice"
    if gaps.smallest_margin_s is not None:
        margin = f"the shortest was {gaps.smallest_margin_s:.3f} s longer than due"
        if gaps.smallest_margin_s < 0:
            margin = f"the shortest was {-gaps.smallest_margin_s:.3f} s shorter than due"
    whys = ", ".join(f"{row.why} {row.visits:,}" for row in gaps.whys)
    words = note(
        f"{gaps.visits:,} visits, {gaps.gaps:,} rests that were due ({whys or 'none'}); {margin}; "
        f"{gaps.too_soon:,} too soon. As `mannerly audit` judges; it also judges robots.txt and "
        "addresses."
    )
    robots = table("robots.txt by what it was", ("robots.txt", "origins", "times read"),
                   [(row.state, row.origins, row.readings) for row in figures.robots])  # fmt: skip
    due = [Mark(1.0, "due")]
    return joined(
        words,
        _histogram(told, queries.TIMES_DUE, gaps.histogram, due, times_text,
                   "gap, in times of what was due", "gaps", "", 0.5),
        element("div", {"class": "card"}, element("h3", None, "robots.txt"), robots),
    )  # fmt: skip


def failures(figures: Figures) -> Markup:
    rows = [
        (
            joined(
                row.outcome.replace("_", " ") + (f" {row.status}" if row.status else ""),
                note(row.detail) if row.detail else "",
            ),
            row.urls,
            row.sites,
            element("ul", None, *(element("li", None, link(url)) for url in row.examples)),
        )
        for row in figures.failures
    ]
    heads = ("what, and in words, of one of them", "URLs", "sites", "examples")
    return joined(
        _listing("Failures with examples", heads, rows, figures.queries["failures"], wide=True),
        note("Where robots.txt could not be read, the URL counts as disallowed above."),
    )


def costs(figures: Figures) -> Markup:
    totals, spent = figures.totals, figures.costs
    pages = totals.fetched
    rows: list[tuple[object, ...]] = []

    def row(what: str, amount: float, word: Callable[[float], str], of: int = pages) -> None:
        if of:
            amounts = (amount, amount / of, amount / of * _MILLION)
            rows.append((what, *(Amount(word(it)) for it in amounts)))

    row("time, at this crawl's rate", totals.span_s, seconds_text)
    row("requests", totals.requests, short)
    row("bytes received (bodies)", totals.wire_bytes, bytes_text)
    row("disk", sum(spent.disk_bytes.values()), bytes_text)
    row("CPU of crawl processes", spent.cpu_s, seconds_text, spent.cpu_pages)
    disk = [(name, Amount(bytes_text(size)), Amount(bytes_text(size / pages) if pages else "-"))
            for name, size in list(spent.disk_bytes.items())[:_DISK_ROWS] if size]  # fmt: skip
    basis = f"A page here is one that was fetched: {pages:,}."
    if spent.cpu_pages:
        basis += (
            f" CPU is known of the last run, or the one that goes on: {seconds_text(spent.cpu_s)} "
            f"for {spent.cpu_pages:,} pages."
        )
    return joined(
        note(basis),
        _listing("Cost of pages", ("what", "all in all", "a page", "a million pages"), rows),
        _listing("Disk", ("largest parts of the data directory", "size", "a page"), disk),
    )


def about(figures: Figures) -> Markup:
    rows = [
        (row.version, row.agent, seconds_text(row.delay_s) if row.delay_s else "0",
         row.processes, f"{row.first_at:%Y-%m-%d %H:%M}", f"{row.last_at:%Y-%m-%d %H:%M}")
        for row in figures.runs
    ]  # fmt: skip
    heads = ("Mannerly", "name for robots.txt", "delay", "processes", "first begun", "last begun")
    return joined(
        _listing("Processes by their terms", heads, rows, figures.queries["runs"], wide=True),
        note(
            "What is settled counts; of URLs that still wait `mannerly status` tells. Instants are "
            "UTC. Under a plot stand its figures and the query that gave them; `mannerly query` "
            "gives the same."
        ),
    )


def _listing(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    sql: str = "",
    *,
    wide: bool = False,
) -> Markup:
    if not rows:
        return note(f"{title}: there are none.")
    return section(title, table(title, heads, rows), sql, wide=wide)


def _site_table(title: str, rows: Sequence[SiteRow], sql: str) -> Markup:
    heads = ("site", "URLs", "pages", "failures", "received")
    shown = [(*row[:4], Amount(bytes_text(row.wire_bytes))) for row in rows]
    return _listing(title, heads, shown, sql)


def _ranking(
    told: Told, heads: tuple[str, str], rows: Sequence[tuple[str, int]], sql: str
) -> Markup:
    if not rows:
        return figure(told, note("Nothing yet."))
    drawn = plots.bars(told, [Bar(name, count, f"{count:,}") for name, count in rows[:_BARS]])
    return figure(told, drawn, table(told.title, heads, rows), sql)


def _histogram(
    told: Told,
    scale: Scale,
    bins: Sequence[BinRow],
    marks: Sequence[Mark],
    word: Callable[[float], str],
    x_label: str,
    y_label: str,
    sql: str,
    *least: float,
) -> Markup:
    """`least`: where the axis begins at the latest."""
    if not bins:
        return figure(told, note("Nothing yet."))
    blocks = [Block(scale.edge(row.bin), scale.edge(row.bin + 1), row.rows) for row in bins]
    low, high = min([blocks[0].low, *least]), blocks[-1].high
    ticks = powers_between(low, high, word, scale.base)
    drawn = plots.histogram(told, blocks, marks, (low, high), ticks, x_label, y_label)
    rows = [(f"{block.low:.3g}", f"{block.high:.3g}", block.rows) for block in blocks]
    return figure(told, drawn, table(told.title, ("from", "below", y_label), rows), sql)


def _quantile_marks(found: Quantiles, word: Callable[[float], str]) -> list[Mark]:
    named = (("median", found.p50), ("90 %", found.p90), ("99 %", found.p99))
    return [Mark(value, f"{name} {word(value)}") for name, value in named if value]


def _quantile_words(found: Quantiles, word: Callable[[float], str]) -> str:
    if found.p50 is None or found.p90 is None or found.p99 is None or found.mean is None:
        return ""
    return (
        f"Half are at most {word(found.p50)}, 90 % at most {word(found.p90)}, 99 % at most "
        f"{word(found.p99)}; the mean is {word(found.mean)}."
    )
