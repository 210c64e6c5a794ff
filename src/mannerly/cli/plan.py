"""`mannerly plan`."""

import math

import click

from mannerly.planning import CPU_MS_PER_PAGE, DATABASE_MS_PER_PAGE, DAY_S, Plan
from mannerly.units import duration


@click.command()
@click.option("--sites", type=click.IntRange(1), required=True, help="Sites with pages left.")
@click.option("--delay", default="70s", show_default=True, help="Time between visits to a site.")
@click.option("--pages", type=click.IntRange(0), default=0, help="How long would so many take?")
@click.option("--machines", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--cores", type=click.IntRange(1), default=1, show_default=True, help="Of each machine."
)
@click.option(
    "--cpu-ms-per-page",
    type=click.FloatRange(0.001),
    default=CPU_MS_PER_PAGE,
    show_default=True,
    help="CPU of a crawl process for a page; the default was measured with pages of 60 kB.",
)
@click.option(
    "--database-ms-per-page", type=click.FloatRange(0), default=DATABASE_MS_PER_PAGE,
    show_default=True, help="CPU of PostgreSQL for a page, measured likewise.")  # fmt: skip
def plan(
    sites: int,
    delay: str,
    pages: int,
    machines: int,
    cores: int,
    cpu_ms_per_page: float,
    database_ms_per_page: float,
) -> None:
    """How many pages a day a crawl can fetch, and what limits it.

    \b
    mannerly plan --sites 1000000 --machines 2 --cores 8 --pages 100000000
    """
    try:
        delay_s = duration(delay)
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="--delay") from None
    made = Plan(sites, delay_s, machines, cores, cpu_ms_per_page, database_ms_per_page)
    print("\n".join(_lines(made, pages)))


def _lines(made: Plan, pages: int) -> list[str]:
    one = 1000 / made.cpu_ms_per_page
    lines = [
        f"  politeness  {_rate_text(made.ceiling)} at most: {made.sites:,} sites / "
        f"{made.delay_s:g} s",
        f"  CPU         {_rate_text(made.capacity)}: {made.machines:,} x {made.cores:,} cores, "
        f"{one:,.0f} pages/s each ({made.cpu_ms_per_page:g} ms a page)",
        f"  together    {_rate_text(made.rate)}; the limit is {made.limited_by}",
    ]
    needed = made.cores_for_ceiling
    if made.limited_by == "CPU" and needed is not None:
        more = math.ceil(needed / made.cores)
        lines.append(f"  for all     {needed:,} cores: {more:,} machines with {made.cores:,}")
    lines.append(
        f"  PostgreSQL  {made.database_cores:.1f} cores busy "
        f"({made.database_ms_per_page:g} ms a page)"
    )
    if pages:
        lines.append(f"  {pages:,} pages take {made.days(pages):,.1f} days")
    return lines


def _rate_text(rate: float) -> str:
    return "no limit" if math.isinf(rate) else f"{rate:,.1f} pages/s, {rate * DAY_S:,.0f} a day"
