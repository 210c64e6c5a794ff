"""The record of a run, for tests that write a request book."""

from mannerly.evidence import RunRecord


def run_of(writer: int, **changes: object) -> RunRecord:
    run = RunRecord(
        writer=writer, begun_at=1.8e9, clock="", clock_offset_s=1.8e9 - 1e6, version="test",
        agent="mannerly", delay_s=70.0, robots_ttl_s=86400.0, visit_timeout_s=30.0, guarded=True,
    )  # fmt: skip
    return run._replace(**changes)  # type: ignore[arg-type]
