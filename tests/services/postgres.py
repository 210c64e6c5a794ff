"""A private PostgreSQL for tests: a real cluster in a temporary folder, on a free port of
127.0.0.1, with fsync on, as a real one has it.

`shared()` is one server for the whole test session: a fresh schema per test is cheap, a fresh
cluster is not. A test that breaks its server starts one of its own. PostgreSQL does not run as
root, so under root it runs as the user `postgres`; and it ends with the process that started it.
"""

import atexit
import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

BINARIES = Path("/usr/lib/postgresql")
"""Where Debian puts them, by version; else they are looked for on the PATH."""

SUPERUSER = "postgres"
START_WITHIN_S = 60.0

CONFIGURATION = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "fsync": "on",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "log_min_messages": "warning",
}


class PostgresServer:
    """`with PostgresServer() as server: psycopg.connect(server.url)`."""

    def __init__(self, **settings: str) -> None:
        """`settings` go into postgresql.conf, over `CONFIGURATION`."""
        # Not pytest's folder: that one is closed to the user under whom the server runs.
        self._folder = Path(tempfile.mkdtemp(prefix="mannerly-postgres-"))
        self._data = self._folder / "data"
        self._log = self._folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self._run("initdb", "-D", str(self._data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8",
                  "--locale=C")  # fmt: skip
        lines = {**CONFIGURATION, "port": str(self.port), **settings}
        with (self._data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in lines.items())

    @property
    def url(self) -> str:
        return f"postgresql://{SUPERUSER}@127.0.0.1:{self.port}/postgres"

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def start(self) -> None:
        """Start and wait until it takes connections (after a crash: until it has recovered)."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_as_postgres(), str(_binary("postgres")), "-D", str(self._data)],
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C in a terminal is for the tests, not for it
            )
        give_up_at = time.monotonic() + START_WITHIN_S
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > give_up_at:
                    raise RuntimeError(f"PostgreSQL did not start: {self.log[-2000:]}") from None
                time.sleep(0.02)
            else:
                return

    def stop(self, *, immediate: bool = False) -> None:
        """End it. `immediate`: without a checkpoint, as a crash would; it recovers at the next
        start."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if immediate else signal.SIGINT)
            self._process.wait(timeout=START_WITHIN_S)
            self._process = None

    def crash(self) -> None:
        """What `pg_ctl restart -m immediate` does."""
        self.stop(immediate=True)
        self.start()

    def let_in(self, network: str) -> None:
        """Who connects from there is let in, as from 127.0.0.1."""
        assert self._process is not None
        with (self._data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {network} trust\n")
        self._process.send_signal(signal.SIGHUP)

    def execute(
        self, sql: str, *parameters: object, schema: str = "public"
    ) -> list[tuple[object, ...]]:
        """One statement as the superuser; its rows, if it has any."""
        options = f"-c search_path={schema}"
        with psycopg.connect(self.url, autocommit=True, options=options) as connection:
            cursor = connection.execute(sql.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        self.stop(immediate=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def _run(self, name: str, *arguments: str) -> None:
        if os.geteuid() == 0:
            shutil.chown(self._folder, SUPERUSER, SUPERUSER)
        done = subprocess.run(
            [*_as_postgres(), str(_binary(name)), *arguments],
            capture_output=True,
            text=True,
            cwd="/",
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{name} failed: {done.stderr}")


@functools.cache
def shared() -> PostgresServer:
    """The server of this test session, started at first use and removed when Python ends."""
    server = PostgresServer()
    atexit.register(server.remove)
    server.start()
    return server


def _as_postgres() -> list[str]:
    """Run as the user `postgres` if we are root, and be killed if the tests are."""
    if os.geteuid() != 0:
        return ["setpriv", "--pdeathsig", "KILL"]
    who = [f"--reuid={SUPERUSER}", f"--regid={SUPERUSER}", "--init-groups"]
    return ["setpriv", *who, "--pdeathsig", "KILL"]


def _binary(name: str) -> Path:
    versions = sorted(BINARIES.glob("*/bin"), key=lambda it: int(it.parent.name))
    for folder in reversed(versions):
        if (folder / name).exists():
            return folder / name
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is missing; run tools/services to install PostgreSQL")
    return Path(found)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
