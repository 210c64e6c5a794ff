"""`mannerly selftest`: the guarantees, tried out on this machine and this database."""

import json
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from mannerly.cli.options import config_options, load_config
from mannerly.dburl import sqlite_path
from mannerly.errors import UsageError
from mannerly.selftest import Finding, Terms, Trial, carried_out, judge

SHOWN = 5


@click.command()
@config_options("db_url")
@click.option("--sites", default=150, show_default=True, type=click.IntRange(2), help="How many.")
@click.option("--crawlers", default=2, show_default=True, type=click.IntRange(1, 8),
              help="Processes at once.")  # fmt: skip
@click.option("--kills", default=6, show_default=True, type=click.IntRange(0), help="How often.")
@click.option("--seed", type=int, help="Which web and which moments.  [default: any]")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def selftest(
    config_file: Path | None,
    sites: int,
    crawlers: int,
    kills: int,
    seed: int | None,
    as_json: bool,
    **flags: object,
) -> None:
    """Crawl a hostile simulated web with processes that are killed, and judge what came of it.

    Tries on this machine, and on the database that --db-url names, what Mannerly promises: nothing
    is lost and nothing stored twice whatever is killed, and no site is visited too soon or against
    its robots.txt. The judgement is made from the web server's own log and from the store.
    A PostgreSQL database gets a schema for it, which is removed at the end.

    Exit code 0: every guarantee held; 1: one did not; 2: it cannot be done as asked.
    """
    config = load_config(config_file, flags)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    with (
        tempfile.TemporaryDirectory(prefix="mannerly-selftest-") as folder,
        _database(config.crawl.db_url) as database,
    ):
        _tell(f"seed {seed}: a hostile web of {sites} sites, {crawlers} crawlers")
        trial = carried_out(Terms(seed, sites, crawlers, kills, database), Path(folder), _tell)
        findings = judge(trial)
    print(json.dumps(_document(trial, findings), indent=2) if as_json else _text(trial, findings))
    if any(finding.violations for finding in findings):
        sys.exit(1)


@contextmanager
def _database(url: str) -> Iterator[dict[str, str]]:
    """The options that name a place for a frontier, which is empty and will be gone after."""
    path = sqlite_path(url) if url else None
    if path is not None:
        if path.exists():
            raise UsageError(f"{path} is there already; name a file that is not, it is removed")
        try:
            yield {"db_url": url}
        finally:
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()
    elif url:
        schema = f"mannerly_selftest_{secrets.token_hex(4)}"
        try:
            yield {"db_url": url, "db_schema": schema}
        finally:
            _drop(url, schema)
    else:
        yield {}


def _drop(url: str, schema: str) -> None:
    import psycopg  # noqa: PLC0415 - not needed, and perhaps not there, for SQLite
    from psycopg import sql  # noqa: PLC0415

    with psycopg.connect(url, connect_timeout=10) as connection:
        statement = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema))
        connection.execute(statement)


def _document(trial: Trial, findings: list[Finding]) -> dict[str, object]:
    return {
        "seed": trial.terms.seed,
        "sites": trial.terms.sites,
        "crawlers": trial.terms.crawlers,
        "kills": trial.kills,
        "requests": len(trial.records),
        "took_s": round(trial.took_s, 1),
        "guarantees": [
            {"what": it.what, "looked_at": it.looked_at, "violations": it.violations}
            for it in findings
        ],
    }


def _text(trial: Trial, findings: list[Finding]) -> str:
    lines = []
    for finding in findings:
        wrong = finding.violations
        verdict = "ok" if not wrong else f"VIOLATED, {len(wrong)} times"
        lines.append(f"{finding.what:28}  {finding.looked_at:>16}  {verdict}")
        lines += [f"    {violation}" for violation in wrong[:SHOWN]]
        if len(wrong) > SHOWN:
            lines.append(f"    and {len(wrong) - SHOWN} more")
    held = not any(finding.violations for finding in findings)
    lines.append(
        f"{trial.kills} kills, {len(trial.records):,} requests, {trial.took_s:.0f} s: "
        + ("every guarantee held" if held else f"try again with --seed {trial.terms.seed}")
    )
    return "\n".join(lines)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
