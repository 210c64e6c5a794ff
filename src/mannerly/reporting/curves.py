"""The crawl over time: rates as means over steps, and what has grown from step to step."""

from collections.abc import Sequence
from itertools import accumulate

from mannerly.reporting import plots
from mannerly.reporting.figures import Figures
from mannerly.reporting.layout import Amount, figure, note, table
from mannerly.reporting.markup import Markup, joined
from mannerly.reporting.plots import Series, Told
from mannerly.reporting.scales import seconds_text, unit_for


def rate(figures: Figures) -> Markup:
    """The section. Of a last step that is not half over no rate is told."""
    span_s, step_s = figures.totals.span_s, figures.step_s
    whole = int(span_s / step_s + 0.5)
    if whole < 2:
        return note("The crawl is too short for curves.")
    unit = unit_for(span_s)
    step, x_most = step_s / unit.seconds, span_s / unit.seconds
    fetched, others, received, sites = _by_step(figures, int(span_s / step_s) + 1)
    means = f"means over {seconds_text(step_s)}"

    def draw(name: str, title: str, told: str, y_label: str, *series: Series) -> Markup:
        words = Told(name, title, told)
        x_label = f"{unit.name} since the first URL"
        drawn = plots.lines(words, series, x_most, x_label, y_label)
        return figure(words, drawn, *_behind(figures, title, new_sites=name == "site-growth"))

    return joined(
        draw("rate", "URLs a second", f"URLs settled a second, {means}.", "URLs a second",
             _mean("pages", fetched[:whole], step_s, step),
             _mean("no pages", others[:whole], step_s, step)),
        draw("growth", "Pages over time", "Pages fetched since the beginning.", "pages",
             _sum(fetched, step, x_most)),
        draw("received", "Bytes a second", f"Bodies as received, {means}.", "MB a second",
             _mean("", [size / 1e6 for size in received[:whole]], step_s, step)),
        draw("site-growth", "Sites over time", "Sites of which a URL is settled.", "sites",
             _sum(sites, step, x_most)),
    )  # fmt: skip


def _by_step(figures: Figures, steps: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Pages, other URLs, bytes and new sites of every step, those without a row included."""
    rows = {row.step: row[1:] for row in figures.rates}
    new = {row.step: row.sites for row in figures.new_sites}
    counts = [(*rows.get(step, (0, 0, 0)), new.get(step, 0)) for step in range(steps)]
    fetched, others, received, sites = (list(column) for column in zip(*counts, strict=True))
    return fetched, others, received, sites


def _behind(figures: Figures, title: str, *, new_sites: bool) -> tuple[Markup, str]:
    def since(step: int) -> Amount:
        return Amount(f"{step * figures.step_s:,} s")

    if new_sites:
        sites = [(since(row.step), row.sites) for row in figures.new_sites]
        return table(title, ("from", "new sites"), sites), figures.queries["new_sites"]
    rows = [(since(row.step), *row[1:]) for row in figures.rates]
    heads = ("from", "pages fetched", "other URLs", "bytes received")
    return table(title, heads, rows), figures.queries["rates"]


def _mean(label: str, counts: Sequence[float], step_s: int, step: float) -> Series:
    """A second, at the middle of each step; `step` is its length on the axis."""
    return Series(label, [((n + 0.5) * step, it / step_s) for n, it in enumerate(counts)])


def _sum(counts: Sequence[int], step: float, x_most: float) -> Series:
    """All so far, at the end of each step; the last one ends with the crawl."""
    grown = [0, *accumulate(counts)]
    return Series("", [(min(n * step, x_most), count) for n, count in enumerate(grown)])
