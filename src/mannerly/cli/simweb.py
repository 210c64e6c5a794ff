"""`mannerly simweb`: a simulated web to try the crawler on."""

from pathlib import Path
from typing import Any, TypeVar

import click

from mannerly.errors import UsageError
from mannerly.simweb.serve import serve as run_server
from mannerly.simweb.spec import PRESETS, WebSpec, preset
from mannerly.simweb.web import Web

F = TypeVar("F")


@click.group()
def simweb() -> None:
    """A simulated web, derived from a seed number."""


def _web_options(command: F) -> F:
    """The options that say which web is meant; `serve` and `seeds` must be given the same."""
    options = [
        click.option("--seed", type=int, default=0, show_default=True, help="Which web."),
        click.option("--sites", type=int, default=1_000, show_default=True, help="How many sites."),
        click.option(
            "--preset",
            "name",
            type=click.Choice(sorted(PRESETS)),
            default="mixed",
            show_default=True,
            help="How much misbehaves.",
        ),
        click.option("--https", type=float, help="Share of sites on https."),
    ]
    for option in reversed(options):
        command = option(command)  # type: ignore[type-var]
    return command


def _spec(name: str, **changes: Any) -> WebSpec:
    return preset(name, **{field: value for field, value in changes.items() if value is not None})


@simweb.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port; 0 picks a free one.",
)
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True)
@_web_options
@click.option("--latency", "latency_s", type=float, help="Mean seconds before a response.")
@click.option("--pages-mean", type=float, help="Mean pages of a site.")
@click.option("--pages-max", type=int, help="Most pages of a site.")
@click.option("--body-mean", type=int, help="Mean bytes of a page.")
@click.option("--traps/--no-traps", default=None, help="Whether trap sites have their traps.")
@click.option(
    "--access-log", type=click.Path(dir_okay=False, path_type=Path), help="JSON lines, appended."
)
def serve(
    host: str, port: int, processes: int, name: str, access_log: Path | None, **changes: Any
) -> None:
    """Serve the web, every host of it, http and https, on one port."""
    try:
        web = Web(_spec(name, **changes))

        def ready(bound: int) -> None:
            what = f"seed {web.spec.seed}, {web.spec.sites} sites, {name}, {processes} processes"
            click.echo(f"simweb ready on {host}:{bound} ({what})")

        run_server(web, host, port, processes, access_log, ready)
    except UsageError as exc:
        raise click.UsageError(str(exc)) from exc


@simweb.command()
@_web_options
@click.option("--count", type=click.IntRange(1), help="Only the first so many sites.")
def seeds(name: str, count: int | None, **changes: Any) -> None:
    """Print the home pages of the sites, one per line."""
    try:
        web = Web(_spec(name, **changes))
    except UsageError as exc:
        raise click.UsageError(str(exc)) from exc
    for index in range(min(count or web.spec.sites, web.spec.sites)):
        click.echo(web.home(index))
