"""`mannerly audit`: was the crawl polite? Judged from its own records, also while it runs."""

import dataclasses
import json
import sys
from pathlib import Path

import click

from mannerly.audit import RULES, Audit, Report, SiteLine, Violation
from mannerly.cli.options import config_options, load_config

_HEADS = ("site", "requests", "visits", "pages", "shortest gap", "least margin", "violations")


@click.command()
@config_options("data_dir")
@click.option(
    "--also", multiple=True, type=click.Path(path_type=Path), metavar="DIR",
    help="Data directory of another machine of the same crawl; may be repeated.",
)  # fmt: skip
@click.option("--site", default="", metavar="SITE", help="Judge this site only.")
@click.option(
    "--sites", default=20, show_default=True, type=click.IntRange(min=0), metavar="N",
    help="Sites to tell of one by one, the worst first; 0 for all.",
)  # fmt: skip
@click.option(
    "--list", "listed", is_flag=True,
    help="Every request first: its gap, what was due, the robots.txt line and version behind it.",
)  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True,
    help="For programs; with --list one object a line, the report last.",
)  # fmt: skip
def audit(
    config_file: Path | None,
    also: tuple[Path, ...],
    site: str,
    sites: int,
    listed: bool,
    as_json: bool,
    **flags: object,
) -> None:
    """Judge the crawl's politeness from its records of every request: gaps, delays, robots.txt,
    addresses. Exit code 0: no violation, 1: there are some, 2: there is nothing to judge."""
    data_dir = load_config(config_file, flags).crawl.data_dir
    with Audit([data_dir, *also], site) as judge:
        if listed:
            for request in judge.requests():
                print(json.dumps(request) if as_json else _request_line(request))
        report = judge.judge(sites=sites)
    if as_json:
        print(json.dumps(_document(report), indent=None if listed else 2))
    else:
        print("\n".join(_lines(report)))
    if not report.clean:
        sys.exit(1)


def _document(report: Report) -> dict[str, object]:
    document = dataclasses.asdict(report)
    document["violations"] = [violation._asdict() for violation in report.violations]
    document["site_lines"] = [line._asdict() for line in report.site_lines]
    return document


def _request_line(request: dict[str, object]) -> str:
    answer = request["failure"] or request["status"]
    gap = ""
    if request["gap_s"] is not None:
        gap = f", {request['gap_s']:.3f} s after, {request['due_s']:.3f} s due ({request['why']})"
    version = f"{int(str(request['robots_hash'])) & 2**64 - 1:016x}"
    basis = f", robots.txt {version} line {request['robots_line']}"
    if request["kind"] == "robots" and not request["robots_hash"]:
        basis = ""
    return f"{request['site']} {request['sent_at']} {request['url']} {answer}{gap}{basis}"


def _lines(report: Report) -> list[str]:
    margin = "no site was visited twice"
    if report.smallest_margin_s is not None:
        margin = f"{report.smallest_margin_s:.3f} s ({report.smallest_margin_site})"
    lines = [
        f"requests   {report.requests:,} ({report.pages:,} pages) in {report.visits:,} visits to "
        f"{report.sites:,} sites by {report.runs:,} processes",
        f"verdicts   {report.verdicts:,} judged again by {report.rules_read:,} robots.txt",
        f"margin     at least {margin}",
        *_notes(report),
    ]
    if report.smallest_margin_s is not None:
        lines += ["gaps, by how many times as long as due:"]
        lines += [f"  {label:>12}  {count:,}" for label, count in report.histogram.items()]
        lines += _table(report.site_lines, report.sites)
    return [*lines, *_verdict(report)]


def _notes(report: Report) -> list[str]:
    notes = []
    if report.unsettled_visits:
        notes.append(
            f"void       {report.unsettled_visits:,} visits of processes that died or lost their "
            "lease (or are not settled yet); after them the delay from start to start was due"
        )
    if report.clocks > 1:
        notes.append(
            f"clocks     {report.clocks:,} (machines, or boots of one); between them wall clocks "
            "are compared"
        )
    if report.wall_clock_set_by_s > 1:
        notes.append(
            f"clocks     a wall clock was set by {report.wall_clock_set_by_s:.0f} s between two "
            "processes of one machine; judged by the clock that nobody sets"
        )
    return notes


def _table(sites: list[SiteLine], all_sites: int) -> list[str]:
    rows = [_HEADS, *map(_row, sites)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = ["sites, the worst first:"]
    for name, *cells in rows:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  " + "  ".join([name.ljust(widths[0]), *padded]))
    if len(sites) < all_sites:
        lines.append(f"  and {all_sites - len(sites):,} more (--sites 0 shows all)")
    return lines


def _row(line: SiteLine) -> tuple[str, ...]:
    lengths = (line.shortest_gap_s, line.smallest_margin_s)
    gap, margin = ("-" if length is None else f"{length:.3f} s" for length in lengths)
    counts = [f"{count:,}" for count in (line.requests, line.visits, line.pages)]
    return (line.site, *counts, gap, margin, f"{line.violations:,}")


def _verdict(report: Report) -> list[str]:
    if report.clean:
        return ["no violations"]
    lines = [f"VIOLATIONS  {sum(report.counts.values()):,}"]
    for rule, count in report.counts.items():
        lines.append(f"{count:,} times {rule}: {RULES[rule]}")
        found = [violation for violation in report.violations if violation.rule == rule]
        lines += map(_violation, found)
        if len(found) < count:
            lines.append(f"  and {count - len(found):,} more")
    return lines


def _violation(violation: Violation) -> str:
    clocks = "  [between two clocks: as true as their wall clocks]" if violation.other_clock else ""
    return (
        f"  {violation.at} {violation.site} (visit {violation.visit} of process "
        f"{violation.writer:x}): {violation.detail}{clocks}"
    )
