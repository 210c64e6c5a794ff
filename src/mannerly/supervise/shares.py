"""What each process gets of what the crawl may use on this machine. Pure decisions."""

import dataclasses
import os

from mannerly.config import Config
from mannerly.engine.resources import memory_bytes
from mannerly.units import LEAST_MEMORY


def process_count(config: Config) -> int:
    """How many processes: as asked for, else one per core that we may use; never more than there
    are fetches, pages or memory to share."""
    asked = config.engine.processes or len(os.sched_getaffinity(0))
    memory = memory_bytes(config.engine.memory_limit)
    fitting = memory // LEAST_MEMORY if memory else asked
    return min(asked, config.fetch.max_workers, config.crawl.max_pages or asked, fitting)


def divided(total: int, parts: int) -> list[int]:
    """`total` in `parts` that differ by one at most."""
    each, rest = divmod(total, parts)
    return [each + (index < rest) for index in range(parts)]


def shares(config: Config, count: int) -> list[Config]:
    """A configuration for each of `count` processes.

    Fetches in flight and memory are divided. The time between two visits to an IP address becomes
    longer by their number, since none of them knows when the others were there: so an address gets
    as many visits as from one process, though two may come closer together. Pages and time are not
    divided: the frontier has those limits for all machines (`mannerly.engine.limits`).
    """
    workers = divided(config.fetch.max_workers, count)
    memory = memory_bytes(config.engine.memory_limit) // count
    address_delay_s = config.politeness.address_delay * count
    return [
        dataclasses.replace(
            config,
            crawl=dataclasses.replace(config.crawl, seed_file=None),
            politeness=dataclasses.replace(config.politeness, address_delay=address_delay_s),
            fetch=dataclasses.replace(config.fetch, max_workers=workers[index]),
            engine=dataclasses.replace(config.engine, memory_limit=memory, processes=count),
        )
        for index in range(count)
    ]
