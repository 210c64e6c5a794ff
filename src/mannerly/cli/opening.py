"""`mannerly.opening`, under the name by which commands know it."""

from mannerly.opening import existing_crawl

__all__ = ["existing_crawl"]
