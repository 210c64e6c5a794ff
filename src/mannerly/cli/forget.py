"""`mannerly forget`: a site is removed from a crawl, for good."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import click

from mannerly import assemble
from mannerly.cli.options import config_options, load_config
from mannerly.forgetting import forget as forget_site


@click.command()
@config_options("data_dir", "db_url", "db_schema")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.argument("domain")
def forget(config_file: Path | None, as_json: bool, domain: str, **flags: object) -> None:
    """Remove a site from a crawl: its pages, and all that is known of it; and never visit it again.

    Prints a receipt, which is also kept in the directory `forgotten` of the data directory. It
    cannot be taken back. No crawler may run in the data directory meanwhile. If it is cut off, the
    same command finishes it. What other sites' pages say of the site stays. A site is what
    --site-by says, by default the registered domain: www.example.org stands for all of
    example.org. If several machines crawl, run it for the data directory of each.
    """
    config = load_config(config_file, flags)
    assemble.check_database(config)
    receipt = asyncio.run(forget_site(config, domain))
    print(json.dumps(asdict(receipt), indent=2) if as_json else receipt)
