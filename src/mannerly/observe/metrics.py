"""A snapshot as Prometheus text. Every metric is a row of `METRICS`, and documented in
docs/metrics.md; a test compares the two. Labels are outcomes, causes, stages and names of
operations: a few dozen values, never a site or a URL."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mannerly.observe.durations import BOUNDS_S, Durations
from mannerly.observe.snapshot import Snapshot

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Values = float | Mapping[str, float] | Durations


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    read: Callable[[Snapshot], Values]
    label: str = ""
    """What the values of a mapping are told apart by."""


def _sites(snapshot: Snapshot) -> dict[str, float]:
    counts = snapshot.counts
    named = {
        "ready": counts.sites_ready,
        "waiting": counts.sites_waiting,
        "abandoned": counts.sites_abandoned,
        "excluded": counts.sites_excluded,
    }
    # What is left has no work: all of it is done.
    return {**named, "done": max(0, counts.sites - sum(named.values()))}


def _urls(snapshot: Snapshot) -> dict[str, float]:
    counts = snapshot.counts
    return {
        "known": counts.urls_known,
        "pending": counts.urls_pending - counts.urls_abandoned,
        "abandoned": counts.urls_abandoned,
        "spilt": counts.urls_spilt,
    }


METRICS = (
    Metric("mannerly_pages_total", "counter",
           "Pages fetched by this run.", lambda it: it.pages),
    Metric("mannerly_pages_stored_total", "counter",
           "Pages whose text was stored.", lambda it: it.pages_stored),
    Metric("mannerly_urls_settled_total", "counter",
           "URLs that got a final outcome.", lambda it: it.settled, "outcome"),
    Metric("mannerly_visits_deferred_total", "counter",
           "Visits in vain, after which the URL is tried again.", lambda it: it.deferred, "cause"),
    Metric("mannerly_responses_total", "counter",
           "Responses that settled a URL, by class of status.", lambda it: it.statuses, "class"),
    Metric("mannerly_visits_total", "counter",
           "Visits in which at least one request was sent.", lambda it: it.visits),
    Metric("mannerly_page_requests_total", "counter",
           "Requests for pages.", lambda it: it.page_requests),
    Metric("mannerly_robots_requests_total", "counter",
           "Requests for robots.txt.", lambda it: it.robots_requests),
    Metric("mannerly_received_bytes_total", "counter",
           "Bytes of pages as received.", lambda it: it.wire_bytes),
    Metric("mannerly_request_duration_seconds", "histogram",
           "From the request to the end of the response, of settled URLs.",
           lambda it: it.durations),
    Metric("mannerly_dns_seconds_total", "counter",
           "Time spent on names, over all stored pages.", lambda it: it.dns_s),
    Metric("mannerly_links_seen_total", "counter",
           "Links found on pages.", lambda it: it.links_seen),
    Metric("mannerly_links_left_out_total", "counter",
           "Links that were not followed, with repeats.", lambda it: it.left_out, "cause"),
    Metric("mannerly_urls_added_total", "counter",
           "URLs that were new to the frontier.", lambda it: it.urls_new),
    Metric("mannerly_leases_total", "counter",
           "Sites leased.", lambda it: it.leases),
    Metric("mannerly_leases_unused_total", "counter",
           "Leases given back without a decision on any URL.",
           lambda it: it.leases_unused, "cause"),
    Metric("mannerly_leases_refused_total", "counter",
           "Leases whose commit was refused as stale.", lambda it: it.refused),
    Metric("mannerly_failures_excused_total", "counter",
           "Failures that were our own fault.", lambda it: it.excused, "cause"),
    Metric("mannerly_checkpoints_total", "counter",
           "Batches made durable.", lambda it: it.checkpoints),
    Metric("mannerly_database_operations_total", "counter",
           "Operations on the frontier's database.",
           lambda it: {name: n for name, (n, _, _) in it.operations.items()}, "operation"),
    Metric("mannerly_database_seconds_total", "counter",
           "Time they took.",
           lambda it: {name: took for name, (_, took, _) in it.operations.items()}, "operation"),
    Metric("mannerly_cpu_seconds_total", "counter",
           "CPU time by stage.", lambda it: it.cpu_s, "stage"),
    Metric("mannerly_in_flight", "gauge",
           "Visits in flight.", lambda it: it.in_flight),
    Metric("mannerly_workers", "gauge",
           "Visits that can be in flight.", lambda it: it.workers),
    Metric("mannerly_visit_limit", "gauge",
           "Visits that may be in flight now: fewer than workers while CPU or memory is short.",
           lambda it: it.visit_limit),
    Metric("mannerly_workbench_sites", "gauge",
           "Leased sites that wait for their turn.", lambda it: it.seats),
    Metric("mannerly_results_waiting", "gauge",
           "Results that wait for the next checkpoint.", lambda it: it.unsettled),
    Metric("mannerly_event_loop_lag_seconds", "gauge",
           "How late the event loop was at worst, lately.", lambda it: it.lag_s),
    Metric("mannerly_resident_memory_bytes", "gauge",
           "Resident memory of all processes.", lambda it: it.memory_bytes),
    Metric("mannerly_open_files", "gauge",
           "Open file descriptors of all processes.", lambda it: it.open_files),
    Metric("mannerly_processes", "gauge",
           "Processes of this run.", lambda it: it.processes),
    Metric("mannerly_paused", "gauge",
           "1 while a person has paused the crawl.", lambda it: it.paused),
    Metric("mannerly_in_trouble", "gauge",
           "1 while the crawl waits for its disk or its database.",
           lambda it: bool(it.trouble)),
    Metric("mannerly_run_seconds", "gauge",
           "How long this run has been going on.", lambda it: it.elapsed_s),
    Metric("mannerly_frontier_sites", "gauge",
           "Sites of the whole crawl by state; one is in one state.",
           _sites, "state"),
    Metric("mannerly_frontier_urls", "gauge",
           "URLs of the whole crawl; known includes pending.", _urls, "state"),
    Metric("mannerly_frontier_pages", "gauge",
           "Pages that the whole crawl has fetched, all runs.", lambda it: it.counts.pages),
    Metric("mannerly_frontier_writers", "gauge",
           "Crawl processes at the frontier, on all machines.", lambda it: it.counts.writers),
)  # fmt: skip


def exposition(snapshot: Snapshot) -> str:
    """All metrics in Prometheus' text format."""
    return "".join(f"{line}\n" for metric in METRICS for line in _lines(metric, snapshot))


def _lines(metric: Metric, snapshot: Snapshot) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    values = metric.read(snapshot)
    if isinstance(values, Durations):
        yield from _histogram(metric.name, values)
    elif isinstance(values, Mapping):
        for key, value in sorted(values.items()):
            yield f'{metric.name}{{{metric.label}="{_escaped(key)}"}} {_number(value)}'
    else:
        yield f"{metric.name} {_number(values)}"


def _histogram(name: str, durations: Durations) -> Iterator[str]:
    seen = 0
    for bound, count in zip(BOUNDS_S, durations.counts, strict=False):
        seen += count
        yield f'{name}_bucket{{le="{bound:g}"}} {seen}'
    yield f'{name}_bucket{{le="+Inf"}} {durations.count}'
    yield f"{name}_sum {_number(durations.total_s)}"
    yield f"{name}_count {durations.count}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(round(float(value), 6))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
