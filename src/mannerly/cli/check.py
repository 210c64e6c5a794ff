"""`mannerly check`: is everything whole, and does it agree?"""

import asyncio
import json
import sys
from pathlib import Path

import click

from mannerly import assemble
from mannerly.checking import check as look
from mannerly.checking import repair as mend
from mannerly.cli.options import config_options, load_config


@click.command()
@config_options("data_dir", "db_url", "db_schema")
@click.option("--repair", is_flag=True, help="Mend what can be mended; no crawler may run here.")
@click.option(
    "--also", multiple=True, metavar="DIR", type=click.Path(path_type=Path, exists=True),
    help="A data directory of the same crawl on another machine; may be given several times.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def check(
    config_file: Path | None, repair: bool, also: tuple[Path, ...], as_json: bool, **flags: object
) -> None:
    """Read every file of a crawl, and compare the frontier with the store.

    Every settled URL must have one fetch record, every page its fetch; every file must be whole.
    Exit code 0: it is so; 1: there are problems; 2: it cannot be done as asked. Without --repair
    nothing is changed, and the crawl may run.

    --repair rolls the journals of processes that died, removes unfinished files, and keeps what is
    readable of damaged ones; those go to lost+found. No good page is ever dropped.
    """
    config = load_config(config_file, flags)
    assemble.check_database(config)
    report = asyncio.run(mend(config, also) if repair else look(config, also))
    print(json.dumps(report.document(), indent=2) if as_json else report)
    if report.problems:
        sys.exit(1)
