"""robots.txt of every kind, and what each one means.

`verdict` says what the rules in `body` say, from the knowledge of which paths were disallowed and
not by parsing: it is the truth that a crawler's parser is judged by.
"""

from functools import lru_cache

from mannerly.simweb.answer import Answer, Fixed, Kind
from mannerly.simweb.chance import draw, unit
from mannerly.simweb.site import WITH_SITEMAP, RobotsKind, Site
from mannerly.simweb.spec import WebSpec

RULES = """\
Disallow: /private/
Allow: /private/open/
Disallow: /*.print$
Disallow: /*?sort=
Disallow: /cgi-bin/
"""
OURS = "mannerly"
TEXT = "text/plain; charset=utf-8"

_CLOSED = frozenset({RobotsKind.BARRED, RobotsKind.FAILING})


def verdict(kind: RobotsKind, target: str) -> bool:
    """May the agent `mannerly` fetch this path (with query) on a host with such a robots.txt?"""
    if kind in _CLOSED:
        return False
    if kind not in WITH_SITEMAP:
        return True
    if target.startswith("/private/open/"):
        return True  # the longest rule wins, and this is the longest of all
    return not (
        target.startswith(("/private/", "/cgi-bin/"))
        or target.endswith(".print")
        or "?sort=" in target
    )


def crawl_delay_s(spec: WebSpec, site: Site, host: str) -> float:
    """The crawl-delay that a host asks for, 0 if it asks for none."""
    if site.robots_of(host) is not RobotsKind.DELAYS:
        return 0.0
    if host == site.other_host:
        host = site.host  # its robots.txt redirects there
    chance = unit(draw(site.salt, b"delay" + host.encode()))
    return max(1.0, round(chance * spec.crawl_delay_s))


def body(kind: RobotsKind, delay_s: float, sitemap: str) -> bytes:
    """The text of a robots.txt that has one. `sitemap` is the URL to name, or ''."""
    tail = f"\nSitemap: {sitemap}\n" if sitemap else ""
    if kind is RobotsKind.EMPTY:
        return b""
    if kind is RobotsKind.BARRED:
        return b"User-agent: *\nDisallow: /\n"
    if kind is RobotsKind.AGENTS:
        text = f"User-agent: {OURS}\n{RULES}\nUser-agent: *\nDisallow: /\n"
    elif kind is RobotsKind.OTHERS:
        text = (
            f"User-agent: otherbot\nUser-agent: thirdbot/2.0\nDisallow: /\n\nUser-agent: *\n{RULES}"
        )
    elif kind is RobotsKind.DELAYS:
        text = f"User-agent: *\nCrawl-delay: {delay_s:g}\n{RULES}"
    else:
        text = f"# Rules for guests\r\nuser-agent : *  # all\n{RULES}"
    return (text + tail).encode() + (_padding() if kind is RobotsKind.HUGE else b"")


def answer(spec: WebSpec, site: Site, host: str) -> Answer:
    """robots.txt as `host` itself serves it, redirects between schemes apart."""
    kind = site.robots_of(host)
    if kind is RobotsKind.NONE:
        return Answer(Kind.ROBOTS, 404, TEXT, Fixed(lambda: b"not found\n"))
    if kind is RobotsKind.FAILING:
        return Answer(Kind.ROBOTS, 503, TEXT, Fixed(lambda: b"try later\n"))
    if kind is RobotsKind.DENIED:
        status = 401 if site.salt & 1 else 403
        return Answer(Kind.ROBOTS, status, TEXT, Fixed(lambda: b"not for you\n"))
    if kind is RobotsKind.SOFT:
        return Answer(Kind.ROBOTS, 200, content=Fixed(lambda: _SOFT))
    if kind is RobotsKind.MOVED and host == site.host:
        target = f"{site.scheme}://{site.other_host}/robots.txt"
        return Answer(Kind.ROBOTS, 301, TEXT, location=target, extra=(("Location", target),))
    sitemap = named_sitemap(site, host)
    delay_s = crawl_delay_s(spec, site, host)
    return Answer(Kind.ROBOTS, 200, TEXT, Fixed(lambda: body(kind, delay_s, sitemap)))


def named_sitemap(site: Site, host: str) -> str:
    """The sitemap that a host's robots.txt names, '' if none."""
    named = site.robots_of(host) in WITH_SITEMAP and host not in site.subhosts
    return f"{site.origin}/sitemap.xml" if named else ""


_SOFT = (
    b"<!doctype html>\n<html><head><title>Oh no</title></head><body><h1>Page not found</h1>"
    b"<p>But please look around.</p></body></html>\n"
)


@lru_cache(maxsize=1)
def _padding() -> bytes:
    """More than 500 KiB of rules about paths that do not exist."""
    lines = [f"Disallow: /beyond/the/first/half/megabyte/{number:06d}/" for number in range(13_000)]
    return ("\nUser-agent: *\n" + "\n".join(lines) + "\n").encode()
