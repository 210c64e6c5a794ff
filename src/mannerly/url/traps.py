"""Signs that a URL was made by a machine without end: loops of links, calendars, filters.

Conservative: what these rules refuse is almost never a page that anybody misses, and each can be
turned off. `TrapRules` sees one URL at a time. What only shows over many URLs is told by
`mannerly.url.variants` (queries without end) and `mannerly.url.yields` (pages with nothing new).
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from mannerly.url.normal import MAX_URL_LENGTH, path_of


class LeftOut(StrEnum):
    """Why a link did not go to the frontier. The value is what people and files see."""

    EXCLUDED = "excluded"
    DEPTH = "too many links from a seed"
    LENGTH = "URL too long"
    SEGMENTS = "too many path segments"
    REPEATS = "path segments repeat"
    PARAMETERS = "too many query parameters"
    VARIANTS = "too many queries for one path"
    YIELD = "pages like it gave nothing new"
    FOREIGN = "in the sitemap of another site"


@dataclass(frozen=True, slots=True)
class TrapRules:
    """Limits on one URL; None turns a rule off."""

    max_length: int | None = MAX_URL_LENGTH
    max_segments: int | None = 40
    """Path segments, empty ones (`//`) included."""
    max_repeats: int | None = 5
    """How often one segment may occur in a path: `/a/b/a/b/...` comes from relative links that
    are resolved one level too deep."""
    max_query_params: int | None = 40
    _harmless: int = field(init=False, repr=False, compare=False)
    """A URL without a query and with no more slashes than this cannot break a rule but that of
    length: true of nearly all, and told at a glance."""

    def __post_init__(self) -> None:
        limits = (limit for limit in (self.max_segments, self.max_repeats) if limit is not None)
        object.__setattr__(self, "_harmless", len("//") + min(limits, default=MAX_URL_LENGTH))

    def cause(self, url: str) -> LeftOut | None:
        """Why a canonical URL looks like a trap; None: it does not."""
        if self.max_length is not None and len(url) > self.max_length:
            return LeftOut.LENGTH
        if "?" not in url and url.count("/") <= self._harmless:
            return None
        path, _, query = path_of(url).partition("?")
        depth = path.count("/")
        if self.max_segments is not None and depth > self.max_segments:
            return LeftOut.SEGMENTS
        if (
            self.max_repeats is not None
            and depth > self.max_repeats
            and most_repeated(path)[1] > self.max_repeats
        ):
            return LeftOut.REPEATS
        if (
            self.max_query_params is not None
            and query
            and query.count("&") >= self.max_query_params
        ):
            return LeftOut.PARAMETERS
        return None

    def reason(self, url: str) -> str | None:
        """The same in words, with the limit that it breaks."""
        cause = self.cause(url)
        if cause is LeftOut.LENGTH:
            return f"longer than {self.max_length} characters"
        if cause is LeftOut.SEGMENTS:
            return f"more than {self.max_segments} path segments"
        if cause is LeftOut.REPEATS:
            segment, _ = most_repeated(path_of(url).partition("?")[0])
            return f"path segment {segment!r} occurs more than {self.max_repeats} times"
        if cause is LeftOut.PARAMETERS:
            return f"more than {self.max_query_params} query parameters"
        return None


def most_repeated(path: str) -> tuple[str, int]:
    """The path segment that occurs most often, and how often."""
    return Counter(path[1:].split("/")).most_common(1)[0]
