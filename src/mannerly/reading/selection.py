"""Which pages: filters as a user gives them, made into a query over the view `pages`."""

import datetime as dt
from dataclasses import dataclass

import duckdb

from mannerly.errors import UsageError
from mannerly.reading.asking import single_query
from mannerly.reading.opening import columns_of
from mannerly.units import duration

DUPLICATE_OF = "duplicate_of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """All of these must hold for a page."""

    sites: tuple[str, ...] = ()
    """Sites, or single hosts of them; one of them."""
    languages: tuple[str, ...] = ()
    """`en` stands for `en-gb` too; one of them."""
    since: dt.datetime | None = None
    until: dt.datetime | None = None
    """Exclusive, so that one export can begin where the last one ended."""
    min_chars: int = 0
    """Characters of text."""
    where: str = ""
    """A condition in SQL, over the columns of `pages`."""
    no_duplicates: bool = False
    limit: int = 0
    """At most so many pages; 0 for all."""

    @property
    def is_everything(self) -> bool:
        return self == Selection()

    def query(
        self, connection: duckdb.DuckDBPyConnection, columns: str
    ) -> tuple[str, list[object]]:
        """SQL and its values. `UsageError` where the condition is not one."""
        conditions, values = self._conditions(connection)
        sql = f"SELECT {columns} FROM pages"  # noqa: S608
        if conditions:
            sql += " WHERE " + " AND ".join(conditions)
        if self.limit:
            sql += f" LIMIT {self.limit}"
        return single_query(connection, sql), values

    def _conditions(self, connection: duckdb.DuckDBPyConnection) -> tuple[list[str], list[object]]:
        conditions: list[str] = []
        values: list[object] = []
        if self.sites:
            one = "site = ? OR starts_with(url, ?) OR starts_with(url, ?)"
            conditions.append("(" + " OR ".join(one for _ in self.sites) + ")")
            for site in self.sites:
                name = site.strip().lower()
                values += [name, f"https://{name}/", f"http://{name}/"]
        if self.languages:
            one = "language = ? OR starts_with(language, ?)"
            conditions.append("(" + " OR ".join(one for _ in self.languages) + ")")
            for language in self.languages:
                values += [language.lower(), f"{language.lower()}-"]
        for instant, sign in ((self.since, ">="), (self.until, "<")):
            if instant is not None:
                conditions.append(f"fetched_at {sign} ?")
                values.append(instant)
        if self.min_chars:
            conditions.append(f"length(text) >= {self.min_chars}")
        if self.no_duplicates:
            if DUPLICATE_OF not in columns_of(connection, "pages"):
                raise UsageError("--no-duplicates: this store does not tell duplicates")
            conditions.append(f"coalesce({DUPLICATE_OF}, 0) = 0")
        if self.where:
            # On a line of its own, the bracket is not lost in a comment that ends the condition.
            conditions.append(f"({self.where}\n)")
        return conditions, values


def moment(text: str, now: dt.datetime) -> dt.datetime:
    """`2026-11-16`, `2026-11-16T06:00`, `2026-11-16T06:00+01:00`, or `2d`: two days before `now`.

    In UTC, without a zone, as the views have instants. Raises `ValueError`.
    """
    try:
        found = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            found = now - dt.timedelta(seconds=duration(text))
        except (ValueError, OverflowError):
            raise ValueError(
                "a day (2026-11-16), an instant (2026-11-16T06:00) or a time ago (2d) is needed"
            ) from None
    if found.tzinfo is not None:
        found = found.astimezone(dt.UTC).replace(tzinfo=None)
    return found
