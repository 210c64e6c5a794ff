"""The functions that run on the server: `functions/*.lua`, in the order of their numbers, are one
library. Its name holds a digest of its text, so processes of two versions never replace each
other's functions, and loading it again is always safe."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

VERSION = 1
"""Of the layout; `20_layout.lua` has it, too. A crawl of a newer one is refused."""


@dataclass(frozen=True, slots=True)
class Library:
    name: str
    source: str


def library(replaced: Mapping[str, str] | None = None, *, in_one_slot: bool = False) -> Library:
    """The packaged functions; `replaced` files have another text (tests move the clock so). All
    keys of a crawl `in_one_slot`: as a Cluster needs it."""
    folder = resources.files("mannerly.frontier.redis") / "functions"
    files = {it.name: it.read_text("utf-8") for it in folder.iterdir() if it.name[-4:] == ".lua"}
    files |= replaced or {}
    flag = f"local IN_ONE_SLOT = {str(in_one_slot).lower()}"
    text = "\n".join([flag, *(files[name] for name in sorted(files))])
    name = f"mannerly_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return Library(name, f"#!lua name={name}\nlocal LIBRARY = '{name}'\n{text}")
