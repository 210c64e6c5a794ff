"""Signs that a URL was made by a machine without end: loops of links, calendars, filters.

Conservative: what these rules refuse is almost never a page that anybody misses, and each can be
turned off. They see one URL at a time; how many URLs a site may have is bounded elsewhere.
"""

from collections import Counter
from dataclasses import dataclass

from mannerly.url.normal import MAX_URL_LENGTH, path_of


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

    def reason(self, url: str) -> str | None:
        """Why a canonical URL looks like a trap, in words; None: it does not."""
        if self.max_length is not None and len(url) > self.max_length:
            return f"longer than {self.max_length} characters"
        path, _, query = path_of(url).partition("?")
        depth = path.count("/")
        if self.max_segments is not None and depth > self.max_segments:
            return f"more than {self.max_segments} path segments"
        if self.max_repeats is not None and depth > self.max_repeats:
            segment, times = Counter(path[1:].split("/")).most_common(1)[0]
            if times > self.max_repeats:
                return f"path segment {segment!r} occurs more than {self.max_repeats} times"
        if (
            self.max_query_params is not None
            and query
            and query.count("&") >= self.max_query_params
        ):
            return f"more than {self.max_query_params} query parameters"
        return None
