"""The live view of a terminal, drawn from one reading. Fits 80 by 24, with room for messages above
it; on a wider terminal the curve is longer."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mannerly.observe.limits import Limit
from mannerly.observe.pace import Reading
from mannerly.observe.snapshot import Snapshot
from mannerly.observe.strain import causes_text
from mannerly.observe.words import clock_text, share_text, size_text, took_text

LABEL_COLUMNS = 13
KEPT_RATES = 240
_BARS = " ▁▂▃▄▅▆▇█"
_COLOURS = {Limit.POLITENESS: "green", Limit.TROUBLE: "red", Limit.PERSON: "yellow"}


def panel(reading: Reading, rates: Sequence[float], width: int) -> RenderableType:
    """`rates`: pages a second of the last looks, for the curve."""
    snapshot = reading.snapshot
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, min_width=LABEL_COLUMNS - 1)
    table.add_column(overflow="ellipsis", no_wrap=True)
    for name, text in _rows(reading):
        table.add_row(name, text)
    table.add_row("", Text(curve(rates, width - LABEL_COLUMNS), style="green"))
    return Group(_head(reading), table, Text(_foot(snapshot), style="dim"))


def _head(reading: Reading) -> RenderableType:
    snapshot, verdict = reading.snapshot, reading.verdict
    head = Text(f"mannerly  {clock_text(snapshot.elapsed_s)}", style="bold")
    if snapshot.processes > 1:
        head.append(f"  {snapshot.processes} processes", style="not bold")
    head.append("  limited by ", style="not bold dim")
    head.append(verdict.limit.value, style=f"bold {_COLOURS.get(verdict.limit, 'cyan')}")
    return Group(head, Text(verdict.because, style="red" if snapshot.trouble else ""))


def _rows(reading: Reading) -> list[tuple[str, str]]:
    snapshot, counts = reading.snapshot, reading.snapshot.counts
    rows = [
        (
            "pages",
            f"[bold green]{snapshot.pages:,}[/]  {reading.now:.1f}/s now, {reading.minute:.1f} in "
            f"a minute, {reading.mean:.1f} on average  {size_text(snapshot.wire_bytes)}",
        ),
        (
            "sites",
            f"{counts.sites_ready:,} ready, {counts.sites_waiting:,} waiting, "
            f"{counts.sites_abandoned:,} abandoned of {counts.sites:,}",
        ),
        (
            "urls",
            f"{counts.urls_pending:,} pending of {counts.urls_known:,} known, "
            f"+{reading.growth:,.0f}/s",
        ),
        ("in flight", f"{snapshot.in_flight:,} of {snapshot.visit_limit:,}"),
        ("responses", _responses(reading)),
        ("no page", causes_text(_failures(snapshot.settled)) or "-"),
        ("tried again", causes_text(snapshot.deferred) or "-"),
    ]
    if snapshot.excused:
        rows.append(("our fault", causes_text(snapshot.excused)))
    if snapshot.leases_unused:
        rows.append(("given back", causes_text(snapshot.leases_unused)))
    rows.append(("machine", _machine(reading)))
    if reading.left_s is not None:
        rows.append(("time left", f"{clock_text(reading.left_s)} until a limit is met"))
    return rows


def _failures(settled: Mapping[str, int]) -> dict[str, int]:
    return {outcome: n for outcome, n in settled.items() if outcome != "fetched"}


def _responses(reading: Reading) -> str:
    snapshot, durations = reading.snapshot, reading.durations
    if not durations.count:
        return "-"
    times = "/".join(took_text(durations.percentile_s(part)) for part in (0.5, 0.95, 0.99))
    total = sum(snapshot.statuses.values())
    classes = ", ".join(
        f"{name} {share_text(n, total)}" for name, n in sorted(snapshot.statuses.items())
    )
    return f"{times} (50/95/99 %)  {classes}"


def _machine(reading: Reading) -> str:
    snapshot = reading.snapshot
    spent = {stage: s for stage, s in snapshot.cpu_s.items() if s > 0}
    total = sum(spent.values())
    largest = sorted(spent.items(), key=lambda it: -it[1])[:2]
    stages = ", ".join(f"{stage} {share_text(s, total)}" for stage, s in largest)
    late = f", late by {took_text(snapshot.lag_s)}" if snapshot.lag_s else ""
    return (
        f"{reading.cores:.2f} cores ({stages}){late}, {size_text(snapshot.memory_bytes)}, "
        f"{snapshot.open_files:,} files"
    )


def _foot(snapshot: Snapshot) -> str:
    if snapshot.ending:
        return f"{snapshot.ending}; visits in flight get a few seconds"
    return "Ctrl-C stops cleanly; --resume goes on later"


def curve(rates: Sequence[float], columns: int) -> str:
    """The latest rates as a row of bars, the highest of them as high as can be."""
    shown = rates[-columns:] if columns > 0 else []
    most = max(shown, default=0.0)
    if most <= 0:
        return ""
    top = len(_BARS) - 1
    return "".join(_BARS[min(top, round(top * rate / most))] for rate in shown)
