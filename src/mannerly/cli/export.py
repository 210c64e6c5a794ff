"""`mannerly export`: pages out of the store, in other formats."""

import datetime as dt
from pathlib import Path

import click

from mannerly.cli.options import data_dirs_of, data_dirs_option
from mannerly.errors import UsageError
from mannerly.reading.export import FORMATS, TEXTS, place_for
from mannerly.reading.export import export as export_pages
from mannerly.reading.selection import Selection, moment


@click.command()
@data_dirs_option
@click.option(
    "--format", "layout", type=click.Choice(FORMATS),
    help="jsonl and csv have all columns; wet has the texts as WARC records; text and markdown are "
    "documents; warc is what servers sent, if the crawl ran with --keep warc.  [default: what the "
    "name of --output says, else jsonl]",
)  # fmt: skip
@click.option(
    "--output", metavar="PATH",
    help="A file; .gz and .zst compress. For text and markdown also a directory (no suffix): a "
    "file for each page.  [default: standard output]",
)  # fmt: skip
@click.option(
    "--text", type=click.Choice(TEXTS),
    help="The main text, without navigation, or all of it. The main text is what --keep main-text "
    "kept, else made from what --keep warc kept, else all of it, and the command says so. In jsonl "
    "and csv, main fills the column main_text.  [default: main for text and markdown, else all]",
)  # fmt: skip
@click.option(
    "--site", "sites", multiple=True, metavar="SITE", help="Only of this site or host. Repeatable."
)
@click.option(
    "--language", "languages", multiple=True, metavar="CODE",
    help="Only in this language; en has en-gb in it. Repeatable.",
)  # fmt: skip
@click.option("--since", metavar="WHEN", help="Fetched since: 2026-11-16, 2026-11-16T06:00 or 2d.")
@click.option("--until", metavar="WHEN", help="Fetched before.")
@click.option(
    "--min-chars", type=click.IntRange(0), default=0, metavar="N",
    help="Only with at least so many characters of text.",
)  # fmt: skip
@click.option("--where", default="", metavar="SQL", help="A condition over the columns of pages.")
@click.option("--no-duplicates", is_flag=True, help="Leave out pages that repeat another.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many pages.")
def export(
    config_file: Path | None,
    data_dirs: tuple[str, ...],
    layout: str | None,
    output: str | None,
    text: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    **filters: object,
) -> None:
    """Write pages in another format; all of them, or those that pass every filter.

    \b
    mannerly export --output pages.jsonl.gz
    mannerly export --format markdown --site example.org --output notes
    mannerly export --output crawl.wet.gz --language en --min-chars 500

    The output is there when it is complete. The crawl may be running.
    """
    chosen, place = place_for(layout, output)
    selection = Selection(
        since=_moment("--since", since),
        until=_moment("--until", until),
        limit=limit or 0,
        **filters,  # type: ignore[arg-type]  # click gives each the type of its option
    )
    done = export_pages(data_dirs_of(config_file, data_dirs), selection, chosen, place, text)
    note = f" ({done.note})" if done.note else ""
    if output is not None:
        click.echo(f"{done.pages:,} {done.noun} written to {output}{note}", err=True)
    elif note:
        click.echo(f"{done.pages:,} {done.noun}{note}", err=True)


def _moment(flag: str, text: str | None) -> dt.datetime | None:
    if text is None:
        return None
    try:
        return moment(text, dt.datetime.now(dt.UTC))
    except ValueError as exc:
        raise UsageError(f"{flag}: {text!r} does not fit: {exc}") from None
