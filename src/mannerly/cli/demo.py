"""`mannerly demo`: a whole crawl on this machine, without the internet."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from mannerly.cli.crawl import run
from mannerly.config import load
from mannerly.errors import MannerlyError, UsageError
from mannerly.store.read import open_store

MARK = ".mannerly-demo"
"""A file that says: this directory is the demo's, it may be replaced."""


@click.command()
@click.option(
    "--sites", default=1200, show_default=True, type=click.IntRange(1), help="How many sites."
)
@click.option("--delay", default="1s", show_default=True, help="Between two visits to a site.")
@click.option("--max-duration", default="45s", show_default=True, help="Stop then, done or not.")
@click.option(
    "--data-dir", default=Path("demo-data"), show_default=True, type=click.Path(path_type=Path),
    help="Where the result goes; the result of an earlier demo there is replaced.")  # fmt: skip
def demo(sites: int, delay: str, max_duration: str, data_dir: Path) -> None:
    """Crawl a simulated web on this machine and look at the result."""
    _make_room(data_dir)
    print(f"A simulated web of {sites:,} sites, crawled with {delay} between two visits to a site.")
    with tempfile.TemporaryDirectory(prefix="mannerly-demo-") as scratch:
        seed_file = Path(scratch) / "seeds.txt"
        seed_file.write_bytes(_simweb("seeds", "--sites", str(sites)))
        with _served(sites) as address:
            flags = {
                "seed_file": str(seed_file),
                "email": "demo@example.org",
                "data_dir": str(data_dir),
                "connect_to": address,
                "delay": delay,
                "crawl_delay_ceiling": "5s",
                "retry_delay": "5s",
                "max_duration": max_duration,
            }
            run(load(flags, environ={}), resume=False, resumable=False)
    print()
    _show_some(data_dir)


def _make_room(data_dir: Path) -> None:
    if data_dir.exists():
        if not data_dir.is_dir():
            raise UsageError(f"{data_dir} is not a directory; choose another --data-dir")
        if not (data_dir / MARK).exists() and any(data_dir.iterdir()):
            raise UsageError(f"{data_dir} is not an earlier demo's; choose another --data-dir")
        shutil.rmtree(data_dir)
    data_dir.mkdir(parents=True)
    (data_dir / MARK).touch()


def _simweb(*arguments: str) -> bytes:
    command = [sys.executable, "-m", "mannerly", "simweb", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout  # noqa: S603


@contextmanager
def _served(sites: int) -> Iterator[str]:
    """The simulated web in a process of its own; yields HOST:PORT."""
    command = [sys.executable, "-m", "mannerly", "simweb", "serve", "--sites", str(sites)]
    command += ["--port", "0", "--pages-mean", "12", "--pages-max", "200"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if line.startswith("simweb ready on "):
                    yield line.split()[3]
                    break
            else:
                raise MannerlyError("the simulated web did not start; see the message above")
        finally:
            server.terminate()


def _show_some(data_dir: Path) -> None:
    store = open_store(data_dir)
    rows = store.execute(
        "SELECT url, title, length(text) FROM pages USING SAMPLE 5 ROWS (reservoir, 7)"
    ).fetchall()
    print("some of the pages:")
    for url, title, length in rows:
        print(f"  {url[:58]:58}  {title[:30]:30}  {length:,} characters")
