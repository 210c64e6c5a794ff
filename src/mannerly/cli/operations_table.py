"""What `mannerly status` shows of the operations on the database: see docs/diagnosis.md."""

from collections.abc import Sequence
from dataclasses import asdict

from mannerly.observe.operations import ProcessOperations
from mannerly.timing import Operation, merged, sizes_text

_HEADS = ("operation", "count", "p50", "p95", "p99", "slowest", "slow")


def operations_lines(processes: Sequence[ProcessOperations], wall_s: float) -> list[str]:
    """A table over all processes, and what each of them was at when it wrote; [] if none did.
    `wall_s` is the Unix time now."""
    if not processes:
        return []
    rows = [_HEADS, *(_row(name, it) for name, it in merged(_parts(processes)).items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = [f"operations of {len(processes)} process{'es' if len(processes) > 1 else ''}"]
    for name, *numbers in rows:
        cells = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
        lines.append("  " + "  ".join([name.ljust(widths[0]), *cells]))
    return [*lines, *(_process_line(process, wall_s) for process in processes)]


def operations_document(processes: Sequence[ProcessOperations]) -> dict[str, object]:
    """The same for programs; durations in seconds, instants in Unix time."""
    operations = {
        name: {
            "count": it.count,
            "total_s": it.total_s,
            "p50_s": it.percentile_s(0.5),
            "p95_s": it.percentile_s(0.95),
            "p99_s": it.percentile_s(0.99),
            "slowest_s": it.slowest_s,
            "slowest_sizes": it.slowest_sizes,
            "slow": it.slow,
        }
        for name, it in merged(_parts(processes)).items()
    }
    documents = []
    for process in processes:
        document = asdict(process)
        del document["operations"]
        document["running"] = [it._asdict() for it in process.running]
        documents.append(document)
    return {"operations": operations, "processes": documents}


def _parts(processes: Sequence[ProcessOperations]) -> list[dict[str, Operation]]:
    return [process.operations for process in processes]


def _row(name: str, operation: Operation) -> tuple[str, ...]:
    detail = sizes_text(operation.slowest_sizes)
    slowest = _duration(operation.slowest_s) + (f" ({detail})" if detail else "")
    percentiles = [_duration(operation.percentile_s(part)) for part in (0.5, 0.95, 0.99)]
    return (name, f"{operation.count:,}", *percentiles, slowest, f"{operation.slow:,}")


def _process_line(process: ProcessOperations, wall_s: float) -> str:
    """How old its figures are, and what it was waiting for."""
    ago = f"{max(0.0, wall_s - process.written_at):,.0f} s ago"
    line = f"  {process.label}: {'ended' if process.ended else 'wrote this'} {ago}"
    waits = [f"{it.name} for {_duration(it.for_s)}" for it in process.running]
    return line + (f"; in the middle of {', '.join(waits)}" if waits else "")


def _duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.{0 if seconds >= 10 * scale else 1}f} {unit}"
    return f"{seconds * 1e6:.0f} us"
