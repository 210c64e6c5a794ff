"""One crawl process, as its parent sees it: started, listened to, told things, killed, reaped."""

import asyncio
import logging
import signal
import socket
import subprocess
from collections.abc import Sequence

from mannerly.config import Config
from mannerly.observe import summing
from mannerly.observe.snapshot import Snapshot
from mannerly.observe.tally import Tally
from mannerly.supervise.messages import LINE_BYTES, config_document, decoded, encoded

log = logging.getLogger(__name__)

REAP_S = 5.0
"""What a process gets to end after it has closed its side."""


class Child:
    """`start` it, then `listen` until it is gone."""

    def __init__(
        self,
        number: int,
        share: Config,
        process: "subprocess.Popen[bytes]",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.number = number
        self.share = share
        self._process = process
        self._reader = reader
        self._writer = writer
        self.tally = Tally(0.0)
        self.snapshot: Snapshot | None = None
        self.beats = 0
        self.silent_s = 0.0
        """How long nothing was heard of it, as far as its parent was there to listen."""
        self.because = ""
        """Why it ended, in its own words; '' if it never said so."""
        self.failure = ""

    @classmethod
    async def start(
        cls, number: int, share: Config, workers: int, command: Sequence[str], keep: Sequence[int]
    ) -> "Child":
        """A fresh interpreter: a fork of this one would inherit locks without the threads that
        hold them. It keeps the descriptors `keep` open for as long as it lives."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = _spawned([*command, str(theirs.fileno())], (theirs.fileno(), *keep))
        except OSError:
            ours.close()
            raise
        ours.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_BYTES)
        child = cls(number, share, process, reader, writer)
        child.tell({"config": config_document(share), "workers": workers})
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, message: dict[str, object]) -> None:
        if not self._writer.is_closing():
            self._writer.write(encoded(message))

    def kill(self) -> None:
        self._process.kill()

    async def listen(self) -> int:
        """Take in what it says until it is gone; its exit code, negative for a signal."""
        try:
            while line := await self._reader.readline():
                self._take(decoded(line))
        except (OSError, ValueError):
            # Cut off in the middle of a line, or what it says makes no sense: it is at its end.
            pass
        finally:
            self._writer.close()
        return await asyncio.to_thread(self._reap)

    def _take(self, message: dict[str, object]) -> None:
        self.silent_s = 0.0
        match message:
            case {"tally": dict(told)}:
                self.beats += 1
                self.tally = summing.from_document(told)
            case {"snapshot": dict(told)}:
                self.snapshot = Snapshot.of_document(told)
            case {"log": [int(level), str(text)]}:
                log.log(level, "process %d: %s", self.number, text)
            case {"ended": str(why)}:
                self.because = why
            case {"failed": str(why)}:
                self.failure = why

    def _reap(self) -> int:
        try:
            return self._process.wait(REAP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _spawned(command: list[str], keep: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    """Ctrl-C goes to every process of a terminal's group, and here the parent decides. Blocked from
    before its first instruction, it cannot hit a process that has not got to ignoring it yet."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=keep
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
