"""The numbers an engine runs by, worked out once from the configuration."""

from dataclasses import dataclass

from mannerly.config import Config
from mannerly.engine.resources import memory_bytes
from mannerly.url import ParameterRules, TrapRules

HOLD_S = 60.0
"""How long after leasing a site its last visit may start."""

BATCH_BYTES = 32 * 2**20
BATCHES_IN_MEMORY = 32
"""Under a limit on memory a batch is this part of it at most: some wait, and one is there several
times over while it is written."""

HOLD_DELAY_S = 10.0
"""Up to this delay a lease is kept for several visits; above it, one visit a lease."""


@dataclass(frozen=True, slots=True)
class EnginePlan:
    workers: int
    shared: bool
    """Others begin at the same moment, and want their part of the sites."""
    delay_s: float
    visit_timeout_s: float
    body_limit: int
    ttl_s: float
    """A lease outlives its last possible visit by the longest delay there is, so whoever takes
    the site over after it lapsed is never early."""
    urls_per_site: int
    checkpoint_interval_s: float
    checkpoint_pages: int
    batch_bytes: int
    """Texts and bodies that a checkpoint takes at once. With some times as many waiting nothing new
    is started."""
    max_pages: int
    max_duration_s: float
    max_depth: int
    follow: bool
    new_sites: bool
    sitemaps: bool
    """Those that robots.txt names are read."""
    guess_sitemaps: bool
    """Where it names none, the usual place is tried."""
    parameters: ParameterRules
    traps: TrapRules | None
    """None: URLs are not judged by their looks."""
    max_url_length: int
    max_query_variants: int
    """0: no limit."""
    yield_guard: bool
    max_links: int
    keeps_links: bool
    keeps_main_text: bool

    @classmethod
    def of(cls, config: Config, workers: int) -> "EnginePlan":
        longest_delay_s = max(config.politeness.delay, config.politeness.crawl_delay_ceiling)
        return cls(
            workers=workers,
            shared=config.engine.processes > 1,
            delay_s=config.politeness.delay,
            visit_timeout_s=config.fetch.visit_timeout,
            body_limit=config.fetch.body_limit,
            ttl_s=HOLD_S + config.fetch.visit_timeout + longest_delay_s,
            urls_per_site=_urls_per_site(config.politeness.delay),
            checkpoint_interval_s=config.engine.checkpoint_interval,
            checkpoint_pages=config.engine.checkpoint_pages,
            batch_bytes=_batch_bytes(config),
            max_pages=config.crawl.max_pages,
            max_duration_s=config.crawl.max_duration,
            max_depth=config.crawl.max_depth,
            follow=not config.crawl.seeded_urls_only,
            new_sites=config.crawl.scope == "any",
            sitemaps=config.crawl.sitemaps != "off" and not config.crawl.seeded_urls_only,
            guess_sitemaps=config.crawl.sitemaps == "usual",
            parameters=parameter_rules(config),
            traps=trap_rules(config),
            max_url_length=config.traps.max_url_length,
            max_query_variants=config.traps.max_query_variants if config.traps.trap_guard else 0,
            yield_guard=config.traps.yield_guard,
            max_links=config.traps.max_links,
            keeps_links="links" in config.store.keep,
            keeps_main_text="main-text" in config.store.keep,
        )


def _urls_per_site(delay_s: float) -> int:
    """Where a lease is kept between two visits, as many as there is time for, within bounds: each
    lease opens a connection. Else more than one, too: URLs that need no request (disallowed,
    excluded) should not cost a lease each."""
    if delay_s > HOLD_DELAY_S:
        return 4
    return max(16, min(64, int(HOLD_S / max(delay_s, 1.0))))


def _batch_bytes(config: Config) -> int:
    limit = memory_bytes(config.engine.memory_limit)
    return min(BATCH_BYTES, limit // BATCHES_IN_MEMORY) if limit else BATCH_BYTES


def parameter_rules(config: Config) -> ParameterRules:
    return ParameterRules(config.urls.strip_parameters, config.urls.keep_parameters)


def trap_rules(config: Config) -> TrapRules | None:
    """None: URLs are not judged by their looks."""
    traps = config.traps
    if not traps.trap_guard:
        return None
    return TrapRules(
        max_length=traps.max_url_length,
        max_segments=traps.max_path_segments or None,
        max_repeats=traps.max_repeated_segments or None,
        max_query_params=traps.max_query_parameters or None,
    )
