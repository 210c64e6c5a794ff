"""nginx as Debian ships it, on a port of its own, with a host for each manual."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NGINX = "/usr/sbin/nginx"
START_S = 10.0
OTHER = "application/x-other"
"""The type of what nginx has no type for: nothing that a crawler reads."""


@contextmanager
def served(roots: Mapping[str, Path], folder: Path) -> Iterator[str]:
    """Serve each host's root; gives the address. Logs and settings are in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "nginx.conf"
    settings.write_text(_settings(roots, folder, port))
    process = subprocess.Popen([NGINX, "-p", folder, "-e", folder / "error.log", "-c", settings])
    try:
        _wait(process, port)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=START_S)


def _settings(roots: Mapping[str, Path], folder: Path, port: int) -> str:
    hosts = "".join(
        f"  server {{ listen 127.0.0.1:{port}; server_name {host}; root {root.absolute()};\n"
        f"    port_in_redirect off; index index.html; }}\n"
        for host, root in roots.items()
    )
    spools = "".join(
        f"  {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; worker_processes 1; pid {folder}/nginx.pid;\n"
        + ("user root;\n" if os.geteuid() == 0 else "")  # the files may be anybody's
        + "events { worker_connections 1024; }\nhttp {\n"
        f"  include /etc/nginx/mime.types; default_type {OTHER};\n"
        f"  access_log {folder}/access.log; gzip on; keepalive_requests 100000;\n"
        # The default host: whoever is not named here has nothing.
        f"  server {{ listen 127.0.0.1:{port} default_server; return 404; }}\n"
        f"{spools}{hosts}}}\n"
    )


def _wait(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline_at = time.monotonic() + START_S
    while time.monotonic() < deadline_at:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("nginx did not start; see its error.log")
