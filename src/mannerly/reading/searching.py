"""Full-text search over one or more data directories, also while the crawl runs."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mannerly.errors import StoreError
from mannerly.reading.asking import Answer
from mannerly.reading.index import DIRECTORY, index_path, refresh
from mannerly.reading.opening import open_reading, roots_of
from mannerly.reading.values import instant
from mannerly.reading.words import Asked, Snippet, asked_for, snippet

# A word of the title says more of a page than one of its text.
_TITLE_WEIGHT = 8.0

Key = tuple[int, int]
"""url_hash, fetched_us: how index and store know a page."""


@dataclass(frozen=True, slots=True)
class Hit:
    url: str
    site: str
    title: str
    description: str
    fetched_at: str
    score: float
    """BM25, larger is better. Comparable within one search only."""
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class Hits:
    total: int
    """How many pages have the words."""
    best: list[Hit]


def search(
    data_dirs: Sequence[Path],
    text: str,
    *,
    limit: int,
    sites: Sequence[str] = (),
    tell: Callable[[str], None],
) -> Hits:
    """The pages that have all the words of `text`, best first; the index is made or renewed first.

    Of several directories each has its own index, and weighs words by its own pages: the order
    among their hits is a good guess, not exact."""
    asked = asked_for(text)
    roots = roots_of(data_dirs)
    total = 0
    ranked: list[tuple[float, Path, Key]] = []
    for root in roots:
        refresh(root, tell)
        count, found = _ask_index(root, asked, limit, sites)
        total += count
        ranked += [(score, root, key) for key, score in found]
    ranked.sort(key=lambda one: -one[0])
    ranked = ranked[:limit]
    hits: dict[tuple[Path, Key], Hit] = {}
    for root in roots:
        scores = {key: score for score, home, key in ranked if home == root}
        hits |= {(root, key): hit for key, hit in _read(root, scores, asked).items()}
    return Hits(total, [hits[root, key] for _, root, key in ranked if (root, key) in hits])


def _ask_index(
    root: Path, asked: Asked, limit: int, sites: Sequence[str]
) -> tuple[int, list[tuple[Key, float]]]:
    where = "words MATCH ?"
    values: list[object] = [asked.match]
    if sites:
        where += f" AND site IN ({', '.join('?' for _ in sites)})"
        values += sites
    tables = "words JOIN docs ON docs.id = words.rowid"
    try:
        with closing(sqlite3.connect(index_path(root), timeout=60.0)) as index:
            (total,) = index.execute(
                f"SELECT count(*) FROM {tables} WHERE {where}",  # noqa: S608
                values,
            ).fetchone()
            rows = index.execute(
                f"SELECT url_hash, fetched_us, -bm25(words, {_TITLE_WEIGHT}, 1.0) AS score"  # noqa: S608
                f" FROM {tables} WHERE {where} ORDER BY score DESC, docs.id LIMIT ?",
                [*values, limit],
            ).fetchall()
    except sqlite3.Error as exc:
        raise StoreError(
            f"the search index cannot be read ({exc}): delete {root / DIRECTORY}, it is made anew"
        ) from exc
    return int(total), [((row[0], row[1]), row[2]) for row in rows]


def _read(root: Path, scores: dict[Key, float], asked: Asked) -> dict[Key, Hit]:
    """The pages of these keys, from the store."""
    if not scores:
        return {}
    hashes = ", ".join(str(key[0]) for key in scores)
    sql = (
        "SELECT url_hash, epoch_us(fetched_at), url, site, title, description, fetched_at, text"  # noqa: S608
        f" FROM pages WHERE url_hash IN ({hashes})"
    )
    found: dict[Key, Hit] = {}
    with open_reading([root]) as store:
        for url_hash, fetched_us, url, site, title, about, fetched_at, text in Answer(store, sql):
            key = (url_hash, fetched_us)
            if key in scores:
                at, part = instant(fetched_at), snippet(text, asked)
                found[key] = Hit(url, site, title, about, at, scores[key], part)
    return found
