"""What a crawl should end up having asked for: the truth that a crawler is measured against."""

from collections import deque
from collections.abc import Iterable

from mannerly.simweb.web import Web, split


def reachable(web: Web, seeds: Iterable[str], *, sitemaps: bool = False) -> set[str]:
    """Every URL that a polite crawler asks for, starting at `seeds`.

    Redirects count as links; what robots.txt disallows is not asked for, and what is marked
    nofollow is not followed. With `sitemaps`, the pages listed in the sitemaps that robots.txt
    files name are links too (the sitemaps themselves are not in the result). Pages that answer
    with an error are in the result, because they have to be asked for to know. For webs without
    traps: on others it does not end.
    """
    found: set[str] = set()
    hosts: set[str] = set()
    waiting: deque[str] = deque()

    def meet(url: str) -> None:
        if url not in found and web.allowed(url):
            found.add(url)
            waiting.append(url)

    for seed in seeds:
        meet(seed)
    while waiting:
        url = waiting.popleft()
        _, host, _ = split(url)
        if sitemaps and host not in hosts:
            hosts.add(host)
            for listed in listed_pages(web, web.sitemap(url)):
                meet(listed)
        for target in web.links(url):
            meet(target)
    return found


def listed_pages(web: Web, sitemap: str) -> list[str]:
    """The pages that a sitemap lists, through an index where it is one."""
    if not sitemap or not web.allowed(sitemap):
        return []
    listed = web.links(sitemap)
    if not any("/sitemap-" in url for url in listed):
        return listed
    return [page for part in listed for page in web.links(part)]
