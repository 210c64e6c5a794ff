"""What is judged again in Python: verdicts from the recorded robots.txt, and addresses.

Each different question is asked once: a version of robots.txt and a path, whatever pages of
whatever origins they stand for; and an address.
"""

import ipaddress
from typing import NamedTuple

import duckdb
import pyarrow as pa

from mannerly.fetch.guard import refusal
from mannerly.politeness.gate import version_of
from mannerly.politeness.robots import RobotsRules, parse_robots

_ROWS_AT_A_TIME = 10_000

# The text of a robots.txt comes once, before the first of its paths, however many there are.
_QUESTIONS = """
WITH bodies AS (
    SELECT robots_hash, any_value(body) AS body FROM chosen
    WHERE kind = 'robots' AND robots_state IN ('found', 'absent') GROUP BY robots_hash
), questions AS (
    SELECT *, row_number() OVER (PARTITION BY agent, robots_hash) = 1 AS first
    FROM (SELECT DISTINCT agent, robots_hash, path, robots_line FROM judged
          WHERE known_us IS NOT NULL AND agent IS NOT NULL)
)
SELECT agent, questions.robots_hash, first, CASE WHEN first THEN body END, path, robots_line
FROM questions LEFT JOIN bodies ON first AND questions.robots_hash = bodies.robots_hash
ORDER BY agent, questions.robots_hash, first DESC
"""
_ADDRESSES = "SELECT DISTINCT address FROM timed WHERE guarded AND address <> ''"

_VERDICT = pa.schema(
    [("agent", pa.string()), ("robots_hash", pa.int64()), ("path", pa.string()),
     ("robots_line", pa.int32()), ("rule", pa.string()), ("why", pa.string())]
)  # fmt: skip


class Judged(NamedTuple):
    versions: int
    verdicts: int


def judge_again(db: duckdb.DuckDBPyConnection) -> Judged:
    """Make the tables `wrong_verdicts` and `wrong_bodies`."""
    asked = db.execute(_QUESTIONS)
    wrong: list[tuple[object, ...]] = []
    altered: set[int] = set()
    versions = verdicts = 0
    robots = parse_robots(b"", "*")
    while rows := asked.fetchmany(_ROWS_AT_A_TIME):
        for agent, version, first, body, path, line in rows:
            if first:
                versions += 1
                robots = parse_robots(body, agent)
                if version_of(body) != version:
                    altered.add(version)
            verdicts += 1
            rule, why = _verdict(robots, path, line)
            if rule:
                wrong.append((agent, version, path, line, rule, why))
    records = [dict(zip(_VERDICT.names, values, strict=True)) for values in wrong]
    _keep(db, "wrong_verdicts", pa.Table.from_pylist(records, _VERDICT))
    bodies = pa.table({"robots_hash": pa.array(sorted(altered), pa.int64())})
    _keep(db, "wrong_bodies", bodies)
    return Judged(versions, verdicts)


def _verdict(robots: RobotsRules, path: str, line: int) -> tuple[str, str]:
    """The rule that is broken and how; '' if none is."""
    verdict = robots.verdict(path)
    if not verdict.allowed:
        return "disallowed", f": line {verdict.line}, {verdict.rule}"
    if verdict.line != line:
        return "other line", f": by line {verdict.line}, recorded was {line}"
    return "", ""


def judge_addresses(db: duckdb.DuckDBPyConnection) -> None:
    """Make the table `wrong_addresses`."""
    found = {str(address): _refusal(address) for (address,) in db.execute(_ADDRESSES).fetchall()}
    wrong = {address: why for address, why in found.items() if why}
    table = pa.table(
        {
            "address": pa.array(list(wrong), pa.string()),
            "why": pa.array(list(wrong.values()), pa.string()),
        }
    )
    _keep(db, "wrong_addresses", table)


def _refusal(address: str) -> str:
    try:
        return refusal(ipaddress.ip_address(address))
    except ValueError:
        return "not an address"


def _keep(db: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    db.register(f"arrow_{name}", rows)
    db.execute(f"CREATE TEMP TABLE {name} AS FROM arrow_{name}")
    db.unregister(f"arrow_{name}")
