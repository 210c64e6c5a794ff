"""psycopg's errors in our words: translated once, here, with what to do next.

No message carries more of the database's URL than where it is: passwords stay where they were.
"""

import psycopg
from psycopg import errors

from mannerly.errors import FrontierError, FrontierMisuseError, MannerlyError

NOT_AT_ITS_PLACE = "MN001"
"""Raised by the function `exactly` of our schema."""

AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
"""The server undid the transaction and asks to send it again. Our order of locks allows neither,
but an administrator's own statements may be part of a cycle."""

LOCKED = errors.LockNotAvailable

_ADVICE: tuple[tuple[tuple[type[psycopg.Error], ...], str], ...] = (
    (
        (errors.LockNotAvailable,),
        "a lock was not given up in time; look in pg_stat_activity for a session that is idle in "
        "transaction, or for a long ALTER or VACUUM FULL, and end it",
    ),
    (
        (errors.QueryCanceled,),
        "a statement took longer than its time-out; the server is overloaded, or somebody "
        "cancelled it",
    ),
    (
        (errors.IdleInTransactionSessionTimeout,),
        "this process stood still inside a transaction, so the server ended it; was it stopped, or "
        "its machine overloaded?",
    ),
    (
        (errors.DiskFull,),
        "the server's disk is full; free some space, the crawl goes on from where it is",
    ),
    (
        (errors.TooManyConnections,),
        "the server has no connection left; raise max_connections or end other programs",
    ),
    (
        (errors.InvalidPassword, errors.InvalidAuthorizationSpecification),
        "the server refused the role or its password; check the URL, PGPASSWORD and pg_hba.conf",
    ),
    (
        (errors.InsufficientPrivilege,),
        "the role may not do this; grant it the schema as docs/postgresql.md says",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        "the server is read-only (a standby?); name the primary, or wait until it is promoted",
    ),
    (
        (errors.InvalidCatalogName,),
        "the database does not exist; create it as docs/postgresql.md says",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedFunction, errors.InvalidSchemaName),
        "the crawl's tables are gone; restore them from a backup",
    ),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        "the server says its data is damaged; restore it from a backup",
    ),
)


def in_our_words(where: str, exc: psycopg.Error) -> MannerlyError:
    """What a caller is told. `where`: the database, without its password."""
    if exc.sqlstate == NOT_AT_ITS_PLACE:
        return FrontierMisuseError(
            "a commit settles or defers a URL that is not at its place in the queue (twice, or "
            "after it was deferred); nothing of it was applied"
        )
    for kinds, advice in _ADVICE:
        if isinstance(exc, kinds):
            return FrontierError(f"{where}: {advice}")
    said = str(exc).strip().partition("\n")[0]
    if isinstance(exc, errors.OperationalError | errors.InterfaceError):
        return FrontierError(
            f"{where}: the server cannot be reached or closed the connection ({said}); check that "
            "it runs, the crawl goes on when it answers"
        )
    return FrontierError(f"{where}: PostgreSQL says {exc.sqlstate or type(exc).__name__}: {said}")
