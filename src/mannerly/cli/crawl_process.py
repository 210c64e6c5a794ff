"""`mannerly crawl-process`: for `mannerly crawl` to start, not for people."""

import sys

import click
import uvloop

from mannerly.supervise import inside


@click.command(name="crawl-process", hidden=True)
@click.argument("link", type=int)
def crawl_process(link: int) -> None:
    """One of several processes of a crawl. LINK is a descriptor of a socket to its parent."""
    sys.exit(uvloop.run(inside.crawl(link)))
