"""`mannerly exclude`: a site says no, and the crawl obeys at once."""

import asyncio
from pathlib import Path

import click

from mannerly import assemble
from mannerly.cli.options import config_options, load_config
from mannerly.config import Config
from mannerly.errors import UrlError, UsageError
from mannerly.frontier.contract import Excluded
from mannerly.joining import joined
from mannerly.opening import existing_crawl
from mannerly.url import canonical, host_of


@click.command()
@config_options("data_dir", "db_url", "db_schema")
@click.argument("domains", nargs=-1, required=True, metavar="DOMAIN...")
def exclude(config_file: Path | None, domains: tuple[str, ...], **flags: object) -> None:
    """Never visit these sites again, in this crawl.

    Takes effect at once, also while the crawl runs: what is being fetched of them now is not
    stored. It cannot be taken back. Pages that are stored already stay. A site is what --site-by
    says, by default the registered domain: www.example.org stands for all of example.org. For
    single hosts and paths see --exclude-file.
    """
    config = load_config(config_file, flags)
    assemble.check_database(config)
    sites, excluded = asyncio.run(_exclude(config, domains))
    print(f"excluded: {', '.join(sites)}")
    print(f"  {excluded.sites:,} new, {excluded.urls:,} URLs of them will not be fetched")


async def _exclude(config: Config, domains: tuple[str, ...]) -> tuple[list[str], Excluded]:
    hosts = [_host(domain) for domain in domains]
    async with existing_crawl(config) as (frontier, settings):
        site_key = assemble.make_site_key(joined(config, settings, resume=True))
        sites = sorted({site_key.site_of(host) for host in hosts})
        return sites, await frontier.exclude(sites)


def _host(domain: str) -> str:
    try:
        return host_of(canonical(domain if "://" in domain else f"http://{domain}/"))
    except UrlError as exc:
        raise UsageError(f"{domain!r} is not a domain ({exc}); give e.g. example.org") from exc
