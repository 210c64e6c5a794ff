"""`mannerly show`: one page of the store."""

import json
import sys
from pathlib import Path

import click

from mannerly.cli.options import data_dirs_of, data_dirs_option
from mannerly.errors import UsageError
from mannerly.reading.looking import look_up, neighbours, spellings
from mannerly.reading.opening import open_reading
from mannerly.reading.output import text_target
from mannerly.reading.telling import document_of, lines_of
from mannerly.reading.values import printable


@click.command()
@data_dirs_option
@click.option("--text", "only_text", is_flag=True, help="The page's text and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="For programs: all columns.")
@click.argument("url")
def show(
    config_file: Path | None, data_dirs: tuple[str, ...], only_text: bool, as_json: bool, url: str
) -> None:
    """What the store has of a page: its facts, its text, every fetch of it.

    The URL may be written as you like (EXAMPLE.org/a/../b): it is found in its canonical form, with
    https or http.
    """
    if only_text and as_json:
        raise UsageError("--text and --json: choose one")
    with open_reading(data_dirs_of(config_file, data_dirs)) as store:
        found = look_up(store, url)
        if found is None:
            others = neighbours(store, url)
            raise UsageError(
                f"nothing is stored of {spellings(url)[0]}: it was not fetched by this crawl "
                f"({others:,} other pages of its host are stored)"
            )
    if only_text:
        if not found.pages:
            raise UsageError(f"no page is stored of {found.url}; without --text its fetches show")
        _print_text(found.pages[-1]["text"])
    elif as_json:
        with text_target(None) as target:
            target.write(json.dumps(document_of(found), indent=2, ensure_ascii=False) + "\n")
    else:
        with text_target(None) as target:
            target.write("\n".join(lines_of(found)) + "\n")


def _print_text(text: str) -> None:
    """As it is stored, but on a terminal no page gets to send it commands."""
    with text_target(None) as target:
        if sys.stdout.isatty():
            text = "\n".join(printable(line) for line in text.splitlines())
        target.write(text + "\n")
