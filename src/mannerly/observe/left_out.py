"""What was found and is not among the pending URLs: spilt, dropped, excluded, not followed at all.
In words."""

from collections.abc import Collection, Iterable

from mannerly.model import DropCause, FrontierStats

_CAUSES = {
    DropCause.SPILL_FULL: "too many waiting on their sites",
    DropCause.SITE_FULL: "their sites have given all their pages",
    DropCause.EXCLUDED: "their sites are excluded",
}

_PATTERNS_SHOWN = 5


def left_out_lines(stats: FrontierStats) -> list[str]:
    """A line for each that there is: '  spilt      12 URLs, ...'."""
    lines = []
    if stats.urls_spilt:
        lines.append(f"  spilt      {stats.urls_spilt:,} URLs, until there is room on their sites")
    dropped = {cause: n for cause, n in stats.dropped.items() if n}
    if dropped:
        causes = ", ".join(
            f"{n:,} {_CAUSES[cause]}" for cause, n in sorted(dropped.items(), key=lambda it: -it[1])
        )
        lines.append(f"  dropped    {sum(dropped.values()):,} URLs, with repeats: {causes}")
    if stats.sites_excluded:
        lines.append(
            f"  excluded   {stats.sites_excluded:,} sites, {stats.urls_excluded:,} URLs on them"
        )
    return lines


def not_followed_lines(
    left_out: Collection[tuple[str, int]], closed: Iterable[tuple[str, str, int]]
) -> list[str]:
    """What the sieve dropped: by cause, and the patterns (site, pattern, pages read) whose pages
    repeat each other."""
    lines = []
    if left_out:
        causes = ", ".join(f"{n:,} {cause}" for cause, n in sorted(left_out, key=lambda it: -it[1]))
        lines.append(f"  unfollowed {sum(n for _, n in left_out):,} links, with repeats: {causes}")
    lines += [
        f"  repeating  {pattern} (site {site}): left out after {pages:,} pages"
        for site, pattern, pages in list(closed)[-_PATTERNS_SHOWN:]
    ]
    return lines
