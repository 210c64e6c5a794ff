"""What a process gave back, and what it was too slow for: as values for other processes to look at,
and in words. See docs/diagnosis.md."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from mannerly.observe import process
from mannerly.observe.tally import Tally

CPU, MEMORY = "CPU", "memory"


@dataclass(frozen=True, slots=True)
class Strain:
    workers: int = 0
    visit_limit: int = 0
    """Visits that may be in flight; fewer than `workers` while the process is too slow for more, or
    takes too much memory."""
    lag_s: float = 0.0
    """How late its event loop was at worst, lately."""
    leases: int = 0
    leases_unused: dict[str, int] = field(default_factory=dict)
    """Leases given back without a decision on any URL, by cause."""
    excused: dict[str, int] = field(default_factory=dict)
    """Failures that were its own fault, by what happened."""
    limited_by: str = CPU
    """What cut the limit last."""
    in_flight: int = 0
    seats: int = 0
    """Leased sites that wait for their turn."""
    unsettled: int = 0
    """Results that wait for the next checkpoint."""
    memory_bytes: int = 0


def strain_of(tally: Tally) -> Strain:
    """For any thread: each value is read at once."""
    return Strain(
        workers=tally.workers,
        visit_limit=tally.visit_limit,
        limited_by=tally.limited_by,
        in_flight=tally.in_flight,
        seats=tally.seats,
        unsettled=tally.unsettled,
        memory_bytes=process.memory_bytes(),
        lag_s=round(tally.lag_s, 3),
        leases=tally.leased,
        leases_unused=dict(tally.leases_unused),
        excused=dict(tally.excused),
    )


def limit_text(strain: Strain) -> str:
    """'limited by CPU: ...', or '' if it is not."""
    if strain.visit_limit >= strain.workers:
        return ""
    text = (
        f"limited by {strain.limited_by}: {strain.visit_limit:,} of {strain.workers:,} visits at "
        "once"
    )
    return text if strain.limited_by == MEMORY else f"{text} (lag {strain.lag_s:.1f} s)"


def causes_text(counts: Mapping[str, int]) -> str:
    """Most frequent first: 'address 19, lapsed 2'."""
    return ", ".join(
        f"{cause.replace('_', ' ')} {n:,}" for cause, n in Counter(counts).most_common() if n
    )


def strain_lines(strains: Mapping[str, Strain]) -> list[str]:
    """For each that there is, a line over all processes, by their labels: leases given back and
    failures of our own; and a line for each process that is limited."""
    unused: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    for strain in strains.values():
        unused.update(strain.leases_unused)
        excused.update(strain.excused)
    lines = []
    if unused:
        leases = sum(strain.leases for strain in strains.values())
        lines.append(f"  unused     of {leases:,} leases: {causes_text(unused)}")
    if excused:
        lines.append(f"  our fault  {causes_text(excused)}; nobody was blamed, all is tried again")
    limits = {label: limit_text(strain) for label, strain in strains.items()}
    return lines + [f"  {label}: {text}" for label, text in limits.items() if text]
