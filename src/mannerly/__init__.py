"""Mannerly: a polite, fast, crash-proof web crawler.

    async for page in mannerly.crawl(["example.org"], contact="you@example.org"):
        print(page.url, page.title)

    with mannerly.open("mannerly-data") as data:
        print(data.query("SELECT site, count(*) AS pages FROM pages GROUP BY ALL"))

See docs/python-api.md. What is imported here is loaded when it is first used, so that a program
which needs one small part of Mannerly does not load all of it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mannerly.api import Crawl, CrawlData, Heading, Page, Response, Selection, crawl
    from mannerly.api import open_data as open  # noqa: A004 - as `gzip.open` is
    from mannerly.errors import MannerlyError
    from mannerly.explaining import Explanation

__version__ = "0.1.0"

__all__ = [
    "Crawl",
    "CrawlData",
    "Explanation",
    "Heading",
    "MannerlyError",
    "Page",
    "Response",
    "Selection",
    "__version__",
    "crawl",
    "open",
]

_HOMES = {
    "Crawl": ("mannerly.api", "Crawl"),
    "CrawlData": ("mannerly.api", "CrawlData"),
    "Explanation": ("mannerly.explaining", "Explanation"),
    "Heading": ("mannerly.api", "Heading"),
    "MannerlyError": ("mannerly.errors", "MannerlyError"),
    "Page": ("mannerly.api", "Page"),
    "Response": ("mannerly.api", "Response"),
    "Selection": ("mannerly.api", "Selection"),
    "crawl": ("mannerly.api", "crawl"),
    "open": ("mannerly.api", "open_data"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'mannerly' has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - as everything else here, only where it is used

    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)
