"""`mannerly search`: the pages that have some words."""

import json
import sys
import textwrap
from pathlib import Path

import click

from mannerly.cli.options import data_dirs_of, data_dirs_option
from mannerly.reading.output import text_target
from mannerly.reading.searching import Hit, Hits
from mannerly.reading.searching import search as search_store
from mannerly.reading.telling import WIDTH
from mannerly.reading.values import printable
from mannerly.reading.words import Snippet

_INDENT = " " * 4


@click.command()
@data_dirs_option
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1, 10_000),
    help="How many pages to show, best first.",
)  # fmt: skip
@click.option("--site", "sites", multiple=True, metavar="SITE", help="Only of it. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.argument("words", nargs=-1, required=True)
def search(
    config_file: Path | None,
    data_dirs: tuple[str, ...],
    limit: int,
    sites: tuple[str, ...],
    as_json: bool,
    words: tuple[str, ...],
) -> None:
    """The pages that have all these WORDS in title or text, best first.

    Case and accents do not matter. '"in this order"' asks for a phrase, garden* for all words that
    begin so. The first search makes an index in the data directory, later ones add what is new; the
    crawl may be running.
    """
    found = search_store(
        data_dirs_of(config_file, data_dirs), " ".join(words), limit=limit, sites=sites,
        tell=lambda line: click.echo(line, err=True),
    )  # fmt: skip
    with text_target(None) as target:
        if as_json:
            target.write(json.dumps(_document(found), indent=2, ensure_ascii=False) + "\n")
            return
        is_terminal = sys.stdout.isatty()
        for number, hit in enumerate(found.best, 1):
            target.write("\n".join(_lines(number, hit, marked=is_terminal)) + "\n")
    if not found.total:
        click.echo("no page has all of these words", err=True)
    elif found.total > len(found.best):
        click.echo(f"{len(found.best)} of {found.total:,} pages; --limit shows more", err=True)


def _document(found: Hits) -> dict[str, object]:
    hits = [
        {
            "url": hit.url,
            "site": hit.site,
            "title": hit.title,
            "description": hit.description,
            "fetched_at": hit.fetched_at,
            "score": hit.score,
            "snippet": hit.snippet.text,
        }
        for hit in found.best
    ]
    return {"total": found.total, "hits": hits}


def _lines(number: int, hit: Hit, *, marked: bool) -> list[str]:
    title = printable(" ".join(hit.title.split())) or "(no title)"
    head = textwrap.shorten(title, WIDTH - len(_INDENT), placeholder="…")
    text = _marked(hit.snippet) if marked else hit.snippet.text
    body = textwrap.wrap(
        text, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
    )
    about = printable(" ".join(hit.description.split()))
    about = textwrap.shorten(about, WIDTH - len(_INDENT), placeholder="…")
    told = [f"{_INDENT}{about}"] if about else []
    return [f"{number:>3} {head}", f"{_INDENT}{hit.url}", *told, *body]


def _marked(part: Snippet) -> str:
    """The words in bold."""
    text, at = "", 0
    for start, end in part.marks:
        text += part.text[at:start] + click.style(part.text[start:end], bold=True)
        at = end
    return text + part.text[at:]
