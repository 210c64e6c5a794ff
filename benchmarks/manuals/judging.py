"""A crawl of the manuals against what an independent reader finds in the files."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.manuals.packages import Manual
from benchmarks.manuals.reference import Page, key
from benchmarks.manuals.walking import Key, Walk
from mannerly.store.read import open_store

MAX_TEXT = 1_000_000
"""Characters of a page's text that the crawler keeps."""
SAMPLES = 5


@dataclass(slots=True)
class Judgement:
    """One host. What should be empty is `missing`, `extra`, `twice` and `differing`."""

    pages: int = 0
    words: int = 0
    missing: list[str] = field(default_factory=list)
    """Reachable by links, and not stored."""
    extra: list[str] = field(default_factory=list)
    """Stored, and not reachable for the reader."""
    twice: list[str] = field(default_factory=list)
    texts: Counter[str] = field(default_factory=Counter)
    """Pages by how their text compares."""
    differing: dict[str, list[str]] = field(default_factory=dict)
    """Some of those that differ, by cause."""
    others: Counter[str] = field(default_factory=Counter)


def judge(
    manual: Manual,
    root: Path,
    data_dir: Path,
    on_text: Callable[[int, Path, str], None] = lambda *_: None,
) -> Judgement:
    """Walk a host's files below `root` and compare each page with what the crawl stored of it.
    `on_text` gets each page's number, file and stored text."""
    stored, twice = _stored(data_dir, manual.host)
    found = Judgement(twice=twice)

    def on_page(name: Key, page: Page, path: Path) -> None:
        found.pages += 1
        found.words += len(page.words)
        text = stored.pop(name, None)
        if text is None:
            found.missing.append(_told(name))
            return
        on_text(found.pages, path, text)
        cause = compare(page, text)
        found.texts[cause] += 1
        if not cause.startswith("same words"):
            samples = found.differing.setdefault(cause, [])
            if len(samples) < SAMPLES:
                samples.append(f"{path}: {first_difference(page.words, text.split())}")

    walk = Walk(root, on_page)
    walk.walk(manual.seed)
    found.others = walk.others
    found.extra = sorted(_told(name) for name in stored)
    return found


def _stored(data_dir: Path, host: str) -> tuple[dict[Key, str], list[str]]:
    with open_store(data_dir) as connection:
        rows = connection.execute("SELECT url, text FROM pages WHERE site = ?", [host])
        texts: dict[Key, str] = {}
        twice = []
        while part := rows.fetchmany(1000):
            for url, text in part:
                if key(url) in texts:
                    twice.append(url)
                texts[key(url)] = text
    return texts, twice


def compare(page: Page, text: str) -> str:
    """How the stored text compares with the words that the reader found."""
    ours = text.split()
    if ours == page.words:
        return "same words"
    if page.long and page.words[: len(ours)] == ours and len(ours) > len(page.words) / 2:
        return "same words, to the last tag that is read"
    if len(text) == MAX_TEXT and page.words[: len(ours) - 1] == ours[:-1]:
        return "same words, to the longest text that is kept"
    if "".join(ours) == "".join(page.words):
        return "same characters, other word borders"
    if sorted(ours) == sorted(page.words):
        return "same words, some moved in front of a broken table as HTML has it"
    if len(ours) < len(page.words):
        return "words missing"
    return "words added" if len(ours) > len(page.words) else "other words"


def first_difference(words: list[str], ours: list[str]) -> str:
    at = next(
        (n for n, (a, b) in enumerate(zip(words, ours, strict=False)) if a != b),
        min(len(words), len(ours)),
    )
    around = slice(max(0, at - 3), at + 6)
    return f"{' '.join(words[around])!r} / {' '.join(ours[around])!r}"


def _told(name: Key) -> str:
    host, path, query = name
    return f"{host}{path}{'?' if query else ''}{query}"
