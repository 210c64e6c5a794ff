"""What is told of leases given back, of our own failures and of the limit on visits."""

from mannerly.observe.pace import Pace
from mannerly.observe.progress import line
from mannerly.observe.snapshot import Snapshot
from mannerly.observe.strain import Strain, limit_text, strain_lines


def test_nothing_is_told_of_a_process_at_ease() -> None:
    at_ease = Strain(workers=500, visit_limit=500, leases=100)
    assert strain_lines({"host:1": at_ease}) == []
    assert limit_text(at_ease) == ""


def test_all_processes_together_and_each_that_is_limited() -> None:
    strains = {
        "host:1": Strain(500, 120, 1.94, 1000, {"address": 3, "lapsed": 1}, {"timed_out": 7}),
        "host:2": Strain(500, 500, 0.0, 2000, {"address": 4}),
    }
    assert strain_lines(strains) == [
        "  unused     of 3,000 leases: address 7, lapsed 1",
        "  our fault  timed out 7; nobody was blamed, all is tried again",
        "  host:1: limited by CPU: 120 of 500 visits at once (lag 1.9 s)",
    ]


def test_progress_tells_the_same() -> None:
    now = Snapshot(
        workers=500,
        visit_limit=90,
        elapsed_s=9.0,
        leases_unused={"address": 12},
        excused={"timed_out": 3},
    )
    pace = Pace()
    pace.read(Snapshot())
    told = line(pace.read(now))
    assert "given back: address 12" in told
    assert "our fault: timed out 3" in told
    assert "limited by cpu: 90 of 500 visits at once" in told
