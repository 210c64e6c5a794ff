"""The facts of one site, each drawn from the seed and the site's number."""

from dataclasses import dataclass
from enum import StrEnum

from xxhash import xxh3_64_intdigest

from mannerly.simweb.answer import Behaviour
from mannerly.simweb.chance import draw, numbered, unit
from mannerly.simweb.names import SUBHOSTS, domain_of
from mannerly.simweb.spec import WebSpec

LANGUAGES = ("en", "en", "en", "de", "fr", "es", "pt-BR", "nl", "it", "pl")


class RobotsKind(StrEnum):
    """What a host's robots.txt is. What each means for a crawler is in robots.py."""

    NONE = "none"
    EMPTY = "empty"
    RULES = "rules"
    AGENTS = "agents"
    """Our own group has rules; everyone else is barred."""
    OTHERS = "others"
    """Another agent is barred; everyone else has rules."""
    DELAYS = "delays"
    """Rules and a crawl-delay."""
    BARRED = "barred"
    """Nobody may fetch anything."""
    FAILING = "failing"
    MOVED = "moved"
    """Redirects to the site's other host, which has rules."""
    HUGE = "huge"
    DENIED = "denied"
    """401 or 403."""
    SOFT = "soft"
    """An HTML page with status 200."""


class Trap(StrEnum):
    NONE = "none"
    CALENDAR = "calendar"
    SESSION = "session"
    GROWING = "growing"


@dataclass(frozen=True, slots=True)
class Site:
    """A site: a registered domain with its hosts and its pages."""

    index: int
    salt: int
    """What its pages are drawn from."""
    domain: str
    scheme: str
    home: str
    host: str
    """Where its home page is: the bare domain or `www.`."""
    other_host: str
    """The one of the two that redirects to `host`."""
    subhosts: tuple[str, ...]
    linked: int
    """Pages that links lead to: numbers 0 to `linked` - 1."""
    pages: int
    """All pages. The last `pages - linked` are in the sitemap only."""
    hubs: int
    """Pages below this number have children in the link tree, and always answer properly."""
    robots: tuple[RobotsKind, ...]
    """Of `host`, then of each subhost."""
    behaviour: Behaviour
    latency_s: float
    keep_alive: bool
    chunked: bool
    trap: Trap
    language: str
    address: str
    """An address of the benchmarking network 198.18.0.0/15; a few sites share each."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every host that exists."""
        return (self.host, self.other_host, *self.subhosts)

    def robots_of(self, host: str) -> RobotsKind:
        """What governs a host. The redirecting host is governed by what it redirects to."""
        if host in self.subhosts:
            return self.robots[1 + self.subhosts.index(host)]
        return self.robots[0]


class Homes:
    """The home pages of all sites without the rest of them: most links between sites are these."""

    def __init__(self, spec: WebSpec, salt: int) -> None:
        self._salt = salt
        self._https = spec.https * 0x10000
        self._www = spec.www * 0x10000

    def url(self, index: int) -> str:
        key = xxh3_64_intdigest(index.to_bytes(8, "little"), self._salt)
        start = _STARTS[(key >> 16 & 0xFFFF) < self._https][(key >> 32 & 0xFFFF) < self._www]
        return f"{start}{domain_of(key, index)}/"


_STARTS = (("http://", "http://www."), ("https://", "https://www."))


def derive(spec: WebSpec, salt: int, index: int) -> Site:
    """Site number `index` of the web."""
    key = numbered(salt, index)
    domain = domain_of(key, index)
    home = Homes(spec, salt).url(index)
    scheme, _, rest = home.partition("://")
    host = rest.removesuffix("/")
    other_host = domain if host != domain else f"www.{domain}"
    linked = spec.page_count(unit(draw(key, b"pages")))
    subhosts = tuple(f"{name}.{domain}" for name in _subhosts(draw(key, b"subhosts")))
    robots = tuple(
        _robots_kind(spec, draw(key, b"robots" + bytes([number])), number)
        for number in range(1 + len(subhosts))
    )
    traits = draw(key, b"traits")
    behaviour = _behaviour(spec, unit(draw(key, b"behaviour")))
    slow = unit(draw(key, b"slow")) < spec.slow_sites
    trapped = spec.traps and unit(draw(key, b"trap")) < spec.trap_sites
    network = key >> 48 & 0x1FFFF
    return Site(
        index=index,
        salt=draw(key, b"page salt"),
        domain=domain,
        scheme=scheme,
        home=home,
        host=host,
        other_host=other_host,
        subhosts=subhosts,
        linked=linked,
        # A sitemap can only be found through a robots.txt that has a body.
        pages=linked + (traits & 3 if robots[0] in WITH_SITEMAP else 0),
        hubs=(linked - 2) // spec.fanout + 1 if linked > 1 else 1,
        robots=robots,
        behaviour=behaviour,
        latency_s=spec.slow_latency_s if slow else spec.latency_s,
        keep_alive=unit(draw(key, b"single")) >= spec.single_sites,
        chunked=unit(draw(key, b"chunked")) < spec.chunked_sites,
        trap=(Trap.CALENDAR, Trap.SESSION, Trap.GROWING)[(traits >> 2) % 3]
        if trapped
        else Trap.NONE,
        language=LANGUAGES[(traits >> 8) % len(LANGUAGES)],
        address=f"198.{18 + (network >> 16)}.{network >> 8 & 255}.{network & 255}",
    )


WITH_SITEMAP = frozenset(
    {
        RobotsKind.RULES,
        RobotsKind.AGENTS,
        RobotsKind.OTHERS,
        RobotsKind.DELAYS,
        RobotsKind.MOVED,
        RobotsKind.HUGE,
    }
)


def _subhosts(number: int) -> list[str]:
    """None to three of the names, none for half of the sites."""
    count = max(0, (number & 7) - 4)
    first = (number >> 3) % len(SUBHOSTS)
    return [SUBHOSTS[(first + step) % len(SUBHOSTS)] for step in range(count)]


def _behaviour(spec: WebSpec, chance: float) -> Behaviour:
    if chance < spec.stalling_sites:
        return Behaviour.STALL
    if chance < spec.stalling_sites + spec.closing_sites:
        return Behaviour.CLOSE
    return Behaviour.WHOLE


def _robots_kind(spec: WebSpec, number: int, host: int) -> RobotsKind:
    chance = unit(number)
    for kind, share in (
        (RobotsKind.RULES, spec.robots_rules),
        (RobotsKind.AGENTS, spec.robots_agents),
        (RobotsKind.OTHERS, spec.robots_others),
        (RobotsKind.DELAYS, spec.robots_delays),
        (RobotsKind.BARRED, spec.robots_barred),
        (RobotsKind.EMPTY, spec.robots_empty),
        (RobotsKind.FAILING, spec.robots_failing),
        (RobotsKind.MOVED, spec.robots_moved),
        (RobotsKind.HUGE, spec.robots_huge),
        (RobotsKind.DENIED, spec.robots_denied),
        (RobotsKind.SOFT, spec.robots_soft),
    ):
        if chance < share:
            # Only the main host has another one to redirect to.
            return RobotsKind.RULES if kind is RobotsKind.MOVED and host else kind
        chance -= share
    return RobotsKind.NONE
