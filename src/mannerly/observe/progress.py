"""Progress: a live view on a terminal, plain lines or lines of JSON elsewhere.

A view is given a `Reading` now and then. `line` says in one line what `panel` draws; neither asks
anybody anything.
"""

import json
import time
from collections import deque
from dataclasses import replace
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live

from mannerly.model import Outcome
from mannerly.observe.pace import Reading
from mannerly.observe.panel import KEPT_RATES, panel
from mannerly.observe.strain import causes_text
from mannerly.observe.tally import Tally
from mannerly.observe.words import clock_text


def failures_text(settled: dict[Outcome, int]) -> str:
    """Everything that is settled and is no page, most frequent first."""
    others = {outcome.name.lower(): n for outcome, n in settled.items()}
    others.pop("fetched", None)
    return causes_text(others)


def deferred_text(tally: Tally) -> str:
    """What went wrong and is tried again, most frequent first."""
    return causes_text(tally.deferred)


def line(reading: Reading) -> str:
    snapshot, counts = reading.snapshot, reading.snapshot.counts
    text = (
        f"{clock_text(snapshot.elapsed_s)}  pages {snapshot.pages:,}  "
        f"{reading.now:.1f}/s  in flight {snapshot.in_flight}  "
        f"sites ready {counts.sites_ready:,} waiting {counts.sites_waiting:,}  "
        f"urls pending {counts.urls_pending:,}"
    )
    told = (
        ("to be tried again", snapshot.deferred),
        ("given back", snapshot.leases_unused),
        ("our fault", snapshot.excused),
    )
    for what, table in told:
        if table:
            text += f"  {what}: {causes_text(table)}"
    text += f"  limited by {reading.verdict.limit}"
    if snapshot.visit_limit < snapshot.workers:
        text += f": {snapshot.visit_limit:,} of {snapshot.workers:,} visits at once"
    if snapshot.ending:
        text += f"  STOPPING ({snapshot.ending})"
    return f"{text}  PAUSED: {snapshot.trouble}" if snapshot.trouble else text


def document(reading: Reading) -> dict[str, object]:
    """The same for programs."""
    snapshot = reading.snapshot
    whole = replace(snapshot, latest=[], examples={}).document()
    for apart in ("latest", "examples", "durations", "operations"):
        del whole[apart]
    return {
        "event": "progress",
        **whole,
        "pages": snapshot.pages,
        "pages_per_s": round(reading.now, 3),
        "limit": reading.verdict.limit,
    }


class View(Protocol):
    """A context manager; shows nothing outside its block."""

    interval_s: float
    """How often it wants to be given something; 0: never."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, reading: Reading) -> None: ...


class LiveView:
    """Redraws in place."""

    interval_s = 1.0

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._rates: deque[float] = deque(maxlen=KEPT_RATES)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, reading: Reading) -> None:
        self._rates.append(reading.now)
        self._live.update(panel(reading, list(self._rates), self._console.width), refresh=True)


class LineView:
    """One line every ten seconds, for files and pipes."""

    interval_s = 10.0

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, reading: Reading) -> None:
        stamp = time.strftime("%H:%M:%S")
        self._console.print(f"{stamp}  {line(reading)}", highlight=False, soft_wrap=True)


class JsonView(LineView):
    """The same as a line of JSON."""

    def show(self, reading: Reading) -> None:
        text = json.dumps(document(reading))
        self._console.print(text, highlight=False, soft_wrap=True, markup=False)


class NoView:
    """Shows nothing."""

    interval_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, reading: Reading) -> None:
        pass


def view_for(mode: str, console: Console, *, as_json: bool = False) -> View:
    """`mode` as in the option --progress; `as_json` as in --log-format."""
    if mode == "auto":
        mode = "live" if console.is_terminal and not as_json else "lines"
    if mode == "live":
        return LiveView(console)
    if mode == "off":
        return NoView()
    return JsonView(console) if as_json else LineView(console)
