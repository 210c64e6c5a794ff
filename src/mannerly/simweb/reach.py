"""What a crawl should end up having asked for: the truth that a crawler is measured against."""

from collections import deque
from collections.abc import Iterable

from mannerly.simweb.answer import Kind
from mannerly.simweb.web import Web, split


def reachable(web: Web, seeds: Iterable[str], *, sitemaps: bool = True) -> set[str]:
    """Every URL that a polite crawler asks for, starting at `seeds`.

    Redirects count as links; what robots.txt disallows is not asked for, and what is marked
    nofollow is not followed. With `sitemaps`, those that robots.txt files name are asked for, and
    what they list is a link too. Pages that answer with an error are in the result, because they
    have to be asked for to know. For webs without traps: on others it does not end.
    """
    found: set[str] = set()
    hosts: set[str] = set()
    waiting: deque[str] = deque()

    def meet(url: str) -> None:
        if url in found:
            return
        _, host, _ = split(url)
        if sitemaps and host not in hosts:
            # Its robots.txt is read, whether the URL is allowed or not.
            hosts.add(host)
            if named := web.sitemap(url):
                meet(named)
        if web.allowed(url):
            found.add(url)
            waiting.append(url)

    for seed in seeds:
        meet(seed)
    while waiting:
        for target in web.links(waiting.popleft()):
            meet(target)
    return found


def pages_among(web: Web, urls: Iterable[str]) -> set[str]:
    """Those that are no sitemaps."""
    return {url for url in urls if web.answer(url).kind is not Kind.SITEMAP}
