"""`mannerly explain`: why a URL was crawled, or was not."""

import asyncio
import json
from pathlib import Path

import click

from mannerly import assemble
from mannerly.cli.options import config_options, load_config
from mannerly.explaining import explain as explain_url


@click.command()
@config_options("data_dir", "db_url", "db_schema")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.argument("url")
def explain(config_file: Path | None, as_json: bool, url: str, **flags: object) -> None:
    """Why was this URL crawled, or why was it not?

    The first line is the answer; then come the reasons: canonical form, site, exclusions, scope,
    the line of robots.txt that decides, where it waits and for what. Only looks: the crawl may
    run. Any URL may be asked about, also one that the crawl has never met.
    """
    config = load_config(config_file, flags)
    assemble.check_database(config)
    explanation = asyncio.run(explain_url(config, url))
    if as_json:
        print(json.dumps(explanation.document, indent=2, ensure_ascii=False))
    else:
        print(_printable(str(explanation)))


def _printable(text: str) -> str:
    """What the web wrote is shown, never obeyed: no escape sequences."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
