"""A crawl from one data directory, that can be killed, stopped and started again."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mannerly.engine.plan import HOLD_S
from mannerly.selftest import trial
from mannerly.simweb.spacing import Break
from tests.programs import MANNERLY, environment, segments

VISIT_TIMEOUT_S = 5.0
OPTIONS = {
    **trial.OPTIONS,
    "visit_timeout": f"{VISIT_TIMEOUT_S}s",
    "max_tries": "12",
    "processes": "1",
}
"""With so many tries no page is given up because the machine is busy, so the set of pages that must
be there in the end is known to the last one."""
LEASE_S = HOLD_S + VISIT_TIMEOUT_S + trial.CRAWL_DELAY_S
"""What `EnginePlan` makes of these."""
PATIENCE_S = 600.0
"""A crawl of which nothing was seen for so long stands still."""


class Crawl:
    """`mannerly crawl` in a process group of its own. Its user agent is its name, so that the web's
    log tells who asked."""

    def __init__(
        self,
        name: str,
        folder: Path,
        options: Mapping[str, str],
        *,
        inside: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """`inside`: the words of a command that runs another one, as in a network namespace."""
        self.name = f"mannerly/{name}"
        self.data = folder / name
        self.breaks: list[Break] = []
        """When it was not there, wholly or in part."""
        self.options = {
            **OPTIONS,
            **options,
            "data_dir": str(self.data),
            "user_agent": self.name,
        }
        self._inside = inside
        self._variables = dict(variables or {})
        self._log = folder / f"{name}.log"
        self._gone_at = 0.0
        self.refusals = 0
        """How often it said that leases were refused, as far as was looked."""
        self.running: subprocess.Popen[bytes] | None = None

    def start(self, *words: str) -> None:
        variables = {f"MANNERLY_{name.upper()}": text for name, text in self.options.items()}
        with self._log.open("ab") as log:
            self.running = subprocess.Popen(
                [*self._inside, *MANNERLY, "crawl", *words],
                env=environment({**variables, **self._variables}),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if self._gone_at:
            self.breaks.append(Break(self._gone_at, time.time()))
            self._gone_at = 0.0

    @property
    def pid(self) -> int:
        assert self.running is not None
        return self.running.pid

    def over(self) -> bool:
        return self.running is not None and self.running.poll() is not None

    def said(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def failure(self) -> str:
        """Why it did not come to its end; '' if it did."""
        code = None if self.running is None else self.running.poll()
        if code == 0:
            return ""
        how = "did not come to its end" if code is None else f"ended with code {code}"
        said = self.said().strip().splitlines()
        return f"{self.name} {how}: {said[-1] if said else 'it said nothing'}"

    # -- what is done to it --------------------------------------------------------------------

    def kill(self) -> None:
        """kill -9 of all its processes, and they are gone when this returns."""
        self._gone_at = time.time()
        self.end()

    def end(self) -> None:
        if self.running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def kill_child(self, chance: random.Random) -> None:
        """kill -9 of one of the processes that crawl; another one is there when this returns."""
        killed_at = time.time()
        before = self.children()
        os.kill(chance.choice(before), signal.SIGKILL)
        self.until(lambda: bool(set(self.children()) - set(before)))
        self.breaks.append(Break(killed_at, time.time()))

    def stop(self, locks: Sequence[Path] = ()) -> None:
        """SIGSTOP, but not while it holds one of the locks by which processes take turns: nobody
        else could take its sites over as long as it does."""
        while True:
            os.kill(self.pid, signal.SIGSTOP)
            self.until(lambda: state_of(self.pid) == "T")
            if not _holds(self.pid, locks):
                self._gone_at = time.time()
                return
            os.kill(self.pid, signal.SIGCONT)
            time.sleep(0.01)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)
        self.breaks.append(Break(self._gone_at, time.time()))
        self._gone_at = 0.0

    # -- what is seen of it --------------------------------------------------------------------

    def children(self) -> list[int]:
        """The processes that crawl, where they are several."""
        with suppress(FileNotFoundError):
            listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
            return [int(pid) for pid in listed.split()]
        return []

    def begun(self) -> bool:
        """It is there to be joined, or to be resumed."""
        return (self.data / "journal").exists()

    def written(self) -> set[tuple[str, int]]:
        """What its journal looks like: another look differs when something was made durable."""
        found = set()
        for path in segments(self.data):
            with suppress(FileNotFoundError):  # rolled while we looked
                found.add((str(path), path.stat().st_size))
        return found

    def until_written(self) -> None:
        """Until it has made something durable, or is over."""
        before = self.written()
        self.until(lambda: self.written() != before)

    def until(self, done: Callable[[], bool], longest_s: float = PATIENCE_S) -> None:
        """Until it is so, or the crawl is over."""
        wait_until(lambda: done() or self.over(), longest_s, self.said)


def wait_until(
    done: Callable[[], bool], longest_s: float = PATIENCE_S, said: Callable[[], str] = str
) -> None:
    give_up_at = time.monotonic() + longest_s
    while not done():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"it never came: {said()[-2000:]}")
        time.sleep(0.02)


def state_of(pid: int) -> str:
    """As the kernel says: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _holds(pid: int, locks: Sequence[Path]) -> bool:
    inodes = {path.stat().st_ino for path in locks}
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return any(
        int(words[4]) == pid and int(words[5].split(":")[2]) in inodes
        for words in lines
        if words[1] == "FLOCK"
    )
