"""The functions that run on the server: `functions/*.lua`, in the order of their numbers, are one
library. Its name holds a digest of its text, so processes of two versions never replace each
other's functions, and loading it again is always safe."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

VERSION = 1
CLUSTER_VERSION = 2
"""Of the layout. A crawl of a newer one is refused; in a Cluster also one of the first, which had
all keys in one slot."""


@dataclass(frozen=True, slots=True)
class Library:
    name: str
    version: int
    """Of the layout that it writes."""
    source: str


def library(replaced: Mapping[str, str] | None = None, *, in_cluster: bool = False) -> Library:
    """The packaged functions; `replaced` files have another text (tests move the clock so)."""
    folder = resources.files("mannerly.frontier.redis") / "functions"
    files = {it.name: it.read_text("utf-8") for it in folder.iterdir() if it.name[-4:] == ".lua"}
    files |= replaced or {}
    version = CLUSTER_VERSION if in_cluster else VERSION
    head = f"local IN_CLUSTER, VERSION = {str(in_cluster).lower()}, {version}"
    text = "\n".join([head, *(files[name] for name in sorted(files))])
    name = f"mannerly_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return Library(name, version, f"#!lua name={name}\nlocal LIBRARY = '{name}'\n{text}")
