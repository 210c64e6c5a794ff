"""Mannerly from Python: `import mannerly`.

- `crawl(seeds, contact=..., **options)`: a crawl as an asynchronous iterator of pages;
- `open(data_dir)`: what was crawled, for reading; also while a crawl runs.
"""

from mannerly.api.crawling import Crawl, crawl
from mannerly.api.data import CrawlData, open_data
from mannerly.api.page import Heading, Page
from mannerly.engine.consumer import Response
from mannerly.reading.selection import Selection

__all__ = ["Crawl", "CrawlData", "Heading", "Page", "Response", "Selection", "crawl", "open_data"]
