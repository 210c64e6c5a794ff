"""Parsing: from bytes to text, links and facts, once per page, in C."""

from mannerly.parse.contract import Heading, Href, LinkKind, Parsed
from mannerly.parse.document import main_text_of, parse
from mannerly.parse.html import parse_html
from mannerly.parse.main_text import main_text
from mannerly.parse.robots_tags import RobotsTags
from mannerly.parse.sitemap import Sitemap, SitemapEntry, SitemapKind, in_scope, parse_sitemap
from mannerly.parse.text import parse_text

__all__ = [
    "Heading",
    "Href",
    "LinkKind",
    "Parsed",
    "RobotsTags",
    "Sitemap",
    "SitemapEntry",
    "SitemapKind",
    "in_scope",
    "main_text",
    "main_text_of",
    "parse",
    "parse_html",
    "parse_sitemap",
    "parse_text",
]
