"""What can be reached in a folder of files that is served as a web site, by links alone.

Says for each URL what a server that is set up as in `serving` answers with.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from benchmarks.manuals.reference import Page, decoded, key, read_html

HTML = frozenset((".html", ".htm", ".shtml"))
TEXT = frozenset((".txt",))
Key = tuple[str, str, str]
"""Host, path and query."""


class Walk:
    """From a seed to all that it leads to on its host. `on_page` is called once for each page that
    is to be stored, with its file."""

    def __init__(self, root: Path, on_page: Callable[[Key, Page, Path], None]) -> None:
        self.others: Counter[str] = Counter()
        """URLs that lead to no page, by cause."""
        self._root = root.resolve()
        self._on_page = on_page

    def walk(self, seed: str) -> None:
        host = key(seed)[0]
        known = {key(seed)}
        waiting = [seed]
        while waiting:
            url = waiting.pop()
            for target in self._visit(url):
                name = key(target)
                if name[0] == host and name not in known:
                    known.add(name)
                    waiting.append(target)

    def _visit(self, url: str) -> Iterable[str]:
        """What it leads to."""
        asked = urlsplit(url).path
        path = self._root / unquote(asked).lstrip("/")
        if path.is_dir():
            if not asked.endswith("/"):
                return self._nothing("redirected", urljoin(url, f"{asked}/"))
            path /= "index.html"
        elif asked.endswith("/"):
            return self._nothing("missing")
        if urlsplit(url).scheme != "http":
            return self._nothing("another scheme")
        if not path.is_file():
            return self._nothing("missing")
        if path.suffix not in HTML | TEXT:
            return self._nothing("not a page")
        page = read_page(path)
        if page.noindex:
            return self._nothing("noindex", *page.targets(url))
        self._on_page(key(url), page, path)
        return page.targets(url)

    def _nothing(self, because: str, *targets: str) -> Iterable[str]:
        self.others[because] += 1
        return targets


def read_page(path: Path) -> Page:
    body = path.read_bytes()
    return Page(words=decoded(body).split()) if path.suffix in TEXT else read_html(body)
