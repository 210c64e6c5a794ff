"""What a simulated web is like: one frozen value, and three presets.

Shares are between 0 and 1. A share of *sites* decides about a site as a whole; a share of *pages*
about the leaves of a site's link tree only, never about the pages that lead to others, so that
everything stays reachable; a share of *links* about single links.
"""

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property

from mannerly.errors import UsageError


@dataclass(frozen=True)
class WebSpec:
    """A web. Equal specs are equal webs, byte for byte."""

    seed: int = 0
    sites: int = 1_000

    pages_mean: float = 50.0
    """Mean number of pages of a site. The counts follow a bounded Pareto distribution."""
    pages_tail: float = 1.2
    """Its exponent: the smaller, the heavier the tail."""
    pages_max: int = 10_000

    body_mean: int = 60_000
    """Mean bytes of HTML of a page; sizes are lognormal."""
    body_spread: float = 0.6
    """Standard deviation of the logarithm of the size."""
    body_max: int = 2_000_000

    links_min: int = 60
    links_max: int = 100
    outside_links: float = 0.5
    """Share of a page's links that lead to other sites."""
    odd_links: float = 0.04
    """Links written in a way that needs resolving with care."""
    nofollow_links: float = 0.0
    upgraded_links: float = 0.0
    """Links to https sites written with http, answered with a redirect."""
    dead_links: float = 0.0
    """Links to hosts that do not exist."""

    https: float = 0.8
    """Share of sites on https. The others do not speak TLS at all."""
    www: float = 0.5
    """Share of sites whose pages live at `www.`; the other name redirects to it."""
    latency_s: float = 0.0
    """Mean time from a request to its response, drawn per URL."""

    slow_sites: float = 0.0
    slow_latency_s: float = 4.0
    stalling_sites: float = 0.0
    """Sites that accept every request, robots.txt included, and answer nothing."""
    closing_sites: float = 0.0
    """Sites that close the connection at every request."""
    single_sites: float = 0.0
    """Sites that answer one request per connection (`Connection: close`)."""
    chunked_sites: float = 0.0
    """Sites that send their pages with chunked transfer coding."""
    trap_sites: float = 0.0
    traps: bool = True
    """False: trap sites have their ordinary pages only, so the web is finite."""

    inside_redirects: float = 0.0
    outside_redirects: float = 0.0
    redirect_chains: float = 0.0
    redirect_loops: float = 0.0
    missing_pages: float = 0.0
    gone_pages: float = 0.0
    busy_pages: float = 0.0
    """429 or 503 with Retry-After for the first one to three attempts, then 200."""
    failing_pages: float = 0.0
    """500, always."""
    files: float = 0.0
    """PDF, PNG, JSON, plain text, XML."""
    encoded_pages: float = 0.0
    """Pages in other encodings, declared in the header, in the page, nowhere or wrongly."""
    stalled_pages: float = 0.0
    stopped_pages: float = 0.0
    """The body stops half-way and the connection stays open."""
    cut_pages: float = 0.0
    """The body stops half-way and the connection is closed."""
    marked_pages: float = 0.0
    """Pages with noindex or nofollow, in a meta tag or a header."""
    duplicate_pages: float = 0.0
    """Pages whose canonical link names another page."""

    robots_rules: float = 0.5
    """Shares of hosts by what their robots.txt is; those left over have none (404)."""
    robots_agents: float = 0.0
    robots_others: float = 0.0
    robots_delays: float = 0.0
    robots_barred: float = 0.0
    robots_empty: float = 0.0
    robots_failing: float = 0.0
    robots_moved: float = 0.0
    robots_huge: float = 0.0
    robots_denied: float = 0.0
    robots_soft: float = 0.0
    crawl_delay_s: float = 2.0
    """The largest crawl-delay that is asked for."""

    def __post_init__(self) -> None:
        if not 1 <= self.sites <= 16_000_000:
            raise UsageError(f"sites must be between 1 and 16000000, not {self.sites}")
        if not 1 <= self.links_min <= self.links_max:
            raise UsageError("links_min must be at least 1 and at most links_max")
        if not 1 <= self.pages_mean <= self.pages_max:
            raise UsageError("pages_mean must be at least 1 and at most pages_max")
        if self.pages_tail <= 0 or self.pages_tail == 1:
            raise UsageError("pages_tail must be positive and not 1")
        shares = [f.name for f in fields(self) if f.type == "float" or f.type is float]
        for name in shares:
            if name in _NOT_SHARES:
                continue
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is a share: give a number between 0 and 1")

    @cached_property
    def fanout(self) -> int:
        """How many children a page has in the tree that makes a whole site reachable."""
        inside = int(self.links_min * (1 - self.outside_links))
        return max(2, min(20, inside - 2))

    @cached_property
    def pages_min(self) -> float:
        """The lower bound of the Pareto distribution that gives `pages_mean`, by bisection."""
        low, high = 0.01, float(self.pages_max)
        for _ in range(60):
            middle = (low + high) / 2
            if _pareto_mean(middle, self.pages_max, self.pages_tail) < self.pages_mean:
                low = middle
            else:
                high = middle
        return low

    def page_count(self, chance: float) -> int:
        """The number of pages of the site that drew `chance` in [0, 1)."""
        low, high, tail = self.pages_min, float(self.pages_max), self.pages_tail
        ratio = math.pow(low / high, tail)
        count = low / math.pow(1 - chance * (1 - ratio), 1 / tail)
        return max(1, min(self.pages_max, round(count)))

    @cached_property
    def body_mu(self) -> float:
        return math.log(self.body_mean) - self.body_spread**2 / 2


_NOT_SHARES = frozenset(
    {"pages_mean", "pages_tail", "body_spread", "latency_s", "slow_latency_s", "crawl_delay_s"}
)


def _pareto_mean(low: float, high: float, tail: float) -> float:
    if high <= low:
        return high
    scale = math.pow(low, tail) / (1 - math.pow(low / high, tail))
    return scale * tail / (tail - 1) * (math.pow(low, 1 - tail) - math.pow(high, 1 - tail))


PLAIN = WebSpec()
"""Nothing misbehaves: every linked page answers 200 at once; robots.txt is absent or has rules."""

MIXED = WebSpec(
    latency_s=0.1,
    nofollow_links=0.02,
    upgraded_links=0.03,
    dead_links=0.01,
    slow_sites=0.02,
    stalling_sites=0.005,
    closing_sites=0.005,
    single_sites=0.15,
    chunked_sites=0.3,
    trap_sites=0.01,
    inside_redirects=0.03,
    outside_redirects=0.01,
    redirect_chains=0.005,
    redirect_loops=0.002,
    missing_pages=0.03,
    gone_pages=0.005,
    busy_pages=0.01,
    failing_pages=0.005,
    files=0.03,
    encoded_pages=0.03,
    stalled_pages=0.002,
    stopped_pages=0.002,
    cut_pages=0.002,
    marked_pages=0.03,
    duplicate_pages=0.02,
    robots_rules=0.35,
    robots_agents=0.03,
    robots_others=0.04,
    robots_delays=0.05,
    robots_barred=0.01,
    robots_empty=0.05,
    robots_failing=0.01,
    robots_moved=0.04,
    robots_huge=0.005,
    robots_denied=0.02,
    robots_soft=0.05,
)
"""What the real web does, in about the shares in which it does it."""

HOSTILE = replace(
    MIXED,
    odd_links=0.15,
    nofollow_links=0.05,
    upgraded_links=0.1,
    dead_links=0.05,
    slow_sites=0.1,
    stalling_sites=0.05,
    closing_sites=0.05,
    single_sites=0.3,
    trap_sites=0.1,
    inside_redirects=0.06,
    outside_redirects=0.04,
    redirect_chains=0.04,
    redirect_loops=0.04,
    missing_pages=0.06,
    gone_pages=0.03,
    busy_pages=0.08,
    failing_pages=0.05,
    files=0.06,
    encoded_pages=0.1,
    stalled_pages=0.04,
    stopped_pages=0.04,
    cut_pages=0.04,
    marked_pages=0.1,
    duplicate_pages=0.05,
    robots_rules=0.2,
    robots_agents=0.08,
    robots_others=0.08,
    robots_delays=0.08,
    robots_barred=0.05,
    robots_failing=0.08,
    robots_moved=0.1,
    robots_huge=0.03,
    robots_denied=0.08,
    robots_soft=0.08,
)
"""A lot of everything that goes wrong."""

PRESETS = {"plain": PLAIN, "mixed": MIXED, "hostile": HOSTILE}


def preset(name: str, **changes: object) -> WebSpec:
    """A preset by its name, with some fields changed."""
    if name not in PRESETS:
        raise UsageError(f"no preset {name!r}; there are {', '.join(PRESETS)}")
    return replace(PRESETS[name], **changes)  # type: ignore[arg-type]
