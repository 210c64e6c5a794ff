"""Who is compared: how each is installed and called, and what it does with a page.

Each is tuned for many hosts as its own documentation says, and is to read the whole web. What the
settings of Scrapy, crawlee and the bare loop are stands in `programs`.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROGRAMS = Path(__file__).parent / "programs"
PYTHON_PACKAGES = (
    *("scrapy>=2.13,<3", "crawlee[parsel]>=1.0,<2", "aiohttp>=3.10,<4"),
    *("selectolax>=0.3.27,<2", "uvloop>=0.21,<1"),
)
NODE_PACKAGES = ("@spider-rs/spider-rs@0.0.157", "@spider-rs/spider-rs-linux-x64-gnu@0.0.157")
"""Its later releases have no compiled part for Linux in the registry."""


class Does(NamedTuple):
    """What happens to a page besides its being read."""

    robots: str
    """Is robots.txt obeyed?"""
    text: bool
    """The text is taken out of the markup."""
    durable: bool
    """A kill loses neither what was read nor what is still to be read."""
    keeps: str
    """What is on disk in the end."""


class Peer(NamedTuple):
    command: str
    """Words with places: {seeds}, {out}, {address}, and those of `Tools`."""
    does: Does
    by_hosts_file: bool = False
    """It finds names through the system only, so it is given a hosts file of its own."""


NOTHING = Does(robots="no", text=False, durable=False, keeps="nothing")
OBEYS = NOTHING._replace(robots="yes")

IN_PART = NOTHING._replace(robots="in part", keeps="bytes as files")
"""Both know no patterns in rules, and no rules after `user-agent :` with a space in it."""

PEERS = {
    "mannerly": Peer(
        "{mannerly} crawl --seed-file {seeds} --email bench@example.org --delay 0 --processes 1"
        " --progress off --data-dir {out} --connect-to {address}:80",
        Does(robots="yes", text=True, durable=True, keeps="pages, links, text, evidence"),
    ),
    "scrapy-xpath": Peer(
        "{python} {programs}/scrapy_pages.py --links xpath --seeds {seeds} --address {address}",
        OBEYS,
    ),
    "scrapy-linkextractor": Peer(
        "{python} {programs}/scrapy_pages.py --links extractor --seeds {seeds} --address {address}",
        OBEYS,
    ),
    "crawlee": Peer("{python} {programs}/crawlee_pages.py --seeds {seeds}", OBEYS, True),
    "spider-rs": Peer("{node} {programs}/spider.mjs {packages} {seeds} pages", OBEYS, True),
    "spider-rs-links": Peer("{node} {programs}/spider.mjs {packages} {seeds} links", OBEYS, True),
    "httrack": Peer(
        "{httrack} -q -%L {seeds} -O {out} -s2 -r9999 -%e9999 -e -B -c100 -%c10000 -A1000000000"
        " --disable-security-limits -%k -C0 -Q -I0 -%P0 -j0 -b0 -K4 -p1 -*/media/*",
        IN_PART,
        True,
    ),
    "wget2": Peer(
        "{wget2} --recursive --level=inf --span-hosts --input-file={seeds} --robots=on --tries=1"
        " --max-threads=100 --compression=gzip --no-hsts --quiet --directory-prefix={out}",
        IN_PART,
        True,
    ),
    "aiohttp-selectolax": Peer(
        "{python} {programs}/bare_loop.py --seeds {seeds} --address {address}", NOTHING
    ),
}
"""In the order in which they run, each with Mannerly before and after it."""


class Tools:
    """The programs that peers need, installed into `folder` or found on the system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    def words(self) -> dict[str, str]:
        """For `Peer.command`: where each tool is; '' if it is not to be had."""
        return {
            "mannerly": f"{sys.executable} -m mannerly",
            "python": self._python(),
            "node": shutil.which("node") or "",
            "packages": self._node_packages(),
            "wget2": shutil.which("wget2") or "",
            "httrack": shutil.which("httrack") or "",
            "programs": str(PROGRAMS),
        }

    def _python(self) -> str:
        place = self._folder / "python"
        if not (place / "installed").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
            install = [
                str(place / "bin/python"),
                "-m",
                "pip",
                "install",
                "--quiet",
                *PYTHON_PACKAGES,
            ]
            if subprocess.run(install, stdout=sys.stderr, check=False).returncode:
                return ""
            (place / "installed").touch()
        return str(place / "bin" / "python")

    def _node_packages(self) -> str:
        place = self._folder / "node"
        if not (place / "installed").exists():
            npm = shutil.which("npm")
            place.mkdir(parents=True, exist_ok=True)
            install = [npm or "npm", "install", "--no-audit", "--no-fund", *NODE_PACKAGES]
            if (
                npm is None
                or subprocess.run(install, stdout=sys.stderr, cwd=place, check=False).returncode
            ):
                return ""
            (place / "installed").touch()
        return str(place)
