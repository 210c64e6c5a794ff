"""Progress: a live view on a terminal, plain lines elsewhere.

`Progress` holds the numbers of one look; `panel` draws them for a terminal of at least 60 columns,
`line` says the same in one line. Neither asks anybody anything.
"""

import time
from collections import deque
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mannerly.model import FrontierStats, Outcome
from mannerly.observe.strain import causes_text, limit_text, strain_of
from mannerly.observe.tally import Tally

RATE_WINDOW_S = 10.0


@dataclass(slots=True)
class Progress:
    """What is shown at one moment."""

    elapsed_s: float
    rate: float
    """Pages a second over the last moments."""
    mean_rate: float
    tally: Tally
    stats: FrontierStats
    workers: int


class RateMeter:
    """Pages a second over a sliding window."""

    def __init__(self, started_at: float) -> None:
        self._started_at = started_at
        self._marks: deque[tuple[float, int]] = deque([(started_at, 0)])

    def rate(self, now: float, count: int) -> float:
        self._marks.append((now, count))
        while len(self._marks) > 2 and self._marks[1][0] <= now - RATE_WINDOW_S:
            self._marks.popleft()
        (then, before) = self._marks[0]
        return (count - before) / (now - then) if now > then else 0.0

    def mean(self, now: float, count: int) -> float:
        return count / (now - self._started_at) if now > self._started_at else 0.0


def clock_text(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"


def size_text(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def failures_text(settled: dict[Outcome, int]) -> str:
    """Everything that is settled and is no page, most frequent first."""
    others = sorted(
        ((n, outcome) for outcome, n in settled.items() if n and outcome is not Outcome.FETCHED),
        reverse=True,
    )
    return ", ".join(f"{outcome.name.lower().replace('_', ' ')} {n:,}" for n, outcome in others)


def deferred_text(tally: Tally) -> str:
    """What went wrong and is tried again, most frequent first."""
    return ", ".join(f"{why.replace('_', ' ')} {n:,}" for why, n in tally.deferred.most_common())


def line(progress: Progress) -> str:
    tally, stats = progress.tally, progress.stats
    text = (
        f"{clock_text(progress.elapsed_s)}  pages {tally.fetched:,}  "
        f"{progress.rate:.1f}/s  in flight {tally.in_flight}  "
        f"sites ready {stats.sites_ready:,} waiting {stats.sites_waiting:,}  "
        f"urls pending {stats.urls_pending:,}"
    )
    if tally.deferred:
        text += f"  to be tried again: {deferred_text(tally)}"
    for what, counts in (("given back", tally.leases_unused), ("our fault", tally.excused)):
        if counts:
            text += f"  {what}: {causes_text(counts)}"
    limited = limit_text(strain_of(tally))
    if limited:
        text += f"  {limited}"
    if tally.ending:
        text += f"  STOPPING ({tally.ending})"
    return f"{text}  PAUSED: {tally.trouble}" if tally.trouble else text


def panel(progress: Progress) -> RenderableType:
    tally, stats = progress.tally, progress.stats
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row(
        "pages",
        f"[bold green]{tally.fetched:,}[/]  {progress.rate:.1f}/s now, "
        f"{progress.mean_rate:.1f}/s on average, {size_text(tally.wire_bytes)}",
    )
    limited = limit_text(strain_of(tally))
    in_flight = f"{tally.in_flight:,} of {progress.workers:,}"
    table.add_row("in flight", f"{in_flight}, {limited}" if limited else in_flight)
    table.add_row(
        "sites",
        f"{stats.sites:,} known, {stats.sites_ready:,} ready, {stats.sites_waiting:,} waiting, "
        f"{stats.sites_abandoned:,} abandoned",
    )
    table.add_row("urls", f"{stats.urls_known:,} known, {stats.urls_pending:,} pending")
    table.add_row("not pages", failures_text(tally.settled) or "-")
    table.add_row("tried again", deferred_text(tally) or "-")
    if tally.excused:
        table.add_row("our fault", f"{causes_text(tally.excused)}; tried again, nobody is blamed")
    if tally.leases_unused:
        table.add_row("given back", causes_text(tally.leases_unused))
    parts: list[RenderableType] = [
        Text(f"mannerly  {clock_text(progress.elapsed_s)}", style="bold"),
        table,
    ]
    if tally.trouble:
        parts.append(Text(f"PAUSED: {tally.trouble}", style="bold red"))
    elif tally.ending:
        parts.append(Text(f"{tally.ending}; visits in flight get a few seconds", style="bold"))
    else:
        parts.append(Text("Ctrl-C stops cleanly; --resume goes on later", style="dim"))
    return Group(*parts)


class LiveView:
    """Redraws in place."""

    interval_s = 0.5

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> "LiveView":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, progress: Progress) -> None:
        self._live.update(panel(progress), refresh=True)


class LineView:
    """One line every ten seconds, for files and pipes."""

    interval_s = 10.0

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> "LineView":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress) -> None:
        stamp = time.strftime("%H:%M:%S")
        self._console.print(f"{stamp}  {line(progress)}", highlight=False, soft_wrap=True)


class NoView:
    """Shows nothing."""

    interval_s = 3600.0

    def __enter__(self) -> "NoView":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, progress: Progress) -> None:
        pass


View = LiveView | LineView | NoView


def view_for(mode: str, console: Console) -> View:
    """`mode` as in the option --progress."""
    if mode == "auto":
        mode = "live" if console.is_terminal else "lines"
    if mode == "live":
        return LiveView(console)
    return LineView(console) if mode == "lines" else NoView()
