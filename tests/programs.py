"""Real programs for tests: the simulated web as a server, and the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mannerly.simweb.access import AccessRecord, read_log
from mannerly.simweb.spec import WebSpec
from mannerly.simweb.web import Web

MANNERLY = [sys.executable, "-m", "mannerly"]
QUICK = {
    "--email": "test@example.org",
    "--delay": "50ms",
    "--address-delay": "0",
    "--retry-delay": "50ms",
    "--retry-ceiling": "2s",
    "--crawl-delay-ceiling": "300ms",
    "--visit-timeout": "5s",
    "--progress": "off",
}
"""Options for a crawl that is over soon."""


@dataclass(frozen=True, slots=True)
class Served:
    """A simulated web that is being served."""

    web: Web
    address: str
    log: Path
    process: "subprocess.Popen[str]"

    def homes(self) -> list[str]:
        return [self.web.home(index) for index in range(self.web.spec.sites)]

    def write_seeds(self, path: Path) -> Path:
        path.write_text("".join(f"{home}\n" for home in self.homes()))
        return path

    def records(self) -> list[AccessRecord]:
        """What the server saw; stops it, so that the log is whole."""
        self.process.terminate()
        self.process.wait(timeout=20)
        return list(read_log(self.log))


@contextmanager
def served(
    directory: Path, spec: WebSpec, *, processes: int = 1, host: str = "127.0.0.1"
) -> Iterator[Served]:
    """`simweb serve` for `spec`, in processes of its own."""
    log = directory / "access.jsonl"
    program = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from mannerly.simweb.serve import serve\n"
        "from mannerly.simweb.spec import WebSpec\n"
        "from mannerly.simweb.web import Web\n"
        "web = Web(WebSpec(**json.loads(sys.argv[1])))\n"
        "serve(web, sys.argv[4], 0, int(sys.argv[2]), Path(sys.argv[3]),\n"
        "      lambda port: print(port, flush=True))\n"
    )
    fields = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    command = [sys.executable, "-c", program, json.dumps(fields), str(processes), str(log), host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, "the simulated web did not start"
            yield Served(Web(spec), f"{host}:{port}", log, process)
        finally:
            process.terminate()


def arguments(options: dict[str, str]) -> list[str]:
    return [word for pair in options.items() for word in pair]


def mannerly(
    *words: str, timeout_s: float = 120, variables: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command line to its end."""
    return subprocess.run(
        [*MANNERLY, *words],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env=environment(variables),
    )


def environment(variables: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without any option of ours, so that the tests decide. A crawl is one process
    unless a test asks for more, whatever machine it runs on."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MANNERLY_")}
    return {**kept, "MANNERLY_PROCESSES": "1", **(variables or {})}


def start(*words: str) -> "subprocess.Popen[str]":
    """Run the command line in the background."""
    return subprocess.Popen(
        [*MANNERLY, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def segments(data: Path) -> list[Path]:
    """The journal files of a crawl that may be writing, rolling and removing them meanwhile.

    `Path.glob` fails if a folder is removed between its listing and the look into it.
    """
    return [
        Path(folder) / name
        for folder, _, names in os.walk(data / "journal")
        for name in names
        if name.endswith(".seg")
    ]
