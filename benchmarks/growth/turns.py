"""A small crawl and a large one that are gone on with by turns, since only what ran side by side on
a shared machine can be compared."""

import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.growth.watching import counts, crawled, telling, window

Figures = dict[str, object]


class Stopped(NamedTuple):
    """A crawl that can be gone on with."""

    folder: Path
    options: Sequence[str]


def gone_on(crawl: Stopped, pages: int) -> Figures:
    """What a page cost when the crawl fetched so many more, from its first to its last and the
    checkpoint after it."""
    folder, options = crawl
    before = counts(folder / "data" / "frontier.db")
    most = before.fetched + pages
    with telling(50_000) as told:
        samples = crawled(["--resume", "--max-pages", str(most), *options], folder, told=told)
    return {
        "begun_with_pages": before.fetched,
        "begun_with_pending": before.urls - before.settled,
        **window(samples, 0, most),
        "peak_rss_mb": round(max(it.rss_bytes for it in samples) / 2**20, 1),
        "peak_anon_mb": round(max(it.anon_bytes for it in samples) / 2**20, 1),
    }


def by_turns(small: Stopped, large: Stopped, *, pages: int, rounds: int) -> Figures:
    """The large crawl goes on from round to round, the small one always from where it is."""
    found: list[tuple[Figures, Figures]] = []
    copy = Stopped(small.folder.with_name(f"{small.folder.name}-copy"), small.options)
    for number in range(rounds):
        shutil.copytree(small.folder / "data", copy.folder / "data")
        if number % 2:  # who goes first, as a machine grows slower or faster in between
            of_large = gone_on(large, pages)
            found.append((gone_on(copy, pages), of_large))
        else:
            found.append((gone_on(copy, pages), gone_on(large, pages)))
        shutil.rmtree(copy.folder)
    return compared(found)


def compared(rounds: list[tuple[Figures, Figures]]) -> Figures:
    """What a page costs in the large crawl over what it costs in the small one: the medians of the
    rounds' own ratios, scaled by the machine's pace and not."""

    def ratios(cost: str) -> list[float]:
        pairs = [(float(str(small[cost])), float(str(large[cost]))) for small, large in rounds]
        return [round(large / small, 3) for small, large in pairs]

    scaled, unscaled = ratios("scaled_cpu_ms_per_page"), ratios("cpu_ms_per_page")
    return {
        "growth": statistics.median(scaled),
        "growth_unscaled": statistics.median(unscaled),
        "growths": scaled,
        "growths_unscaled": unscaled,
        "small": [small for small, _ in rounds],
        "large": [large for _, large in rounds],
    }
