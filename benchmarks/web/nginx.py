"""nginx as Debian ships it, on a port of its own, and a written web served by it.

A page costs it 0.12 to 0.16 ms, the simulated server some four times that. So several crawlers can
be measured beside it without its being what limits them.
"""

import os
import resource
import socket
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.unit.fetch.certificates import self_signed

from benchmarks.web.written import HOME

NGINX = "/usr/sbin/nginx"
MODULES = "/usr/lib/nginx/modules"
START_S = 30.0
MOST_DESCRIPTORS = 200_000


class Serving(NamedTuple):
    """A running nginx."""

    address: str
    log: Path
    """Its access log."""
    pid: int


@contextmanager
def running(folder: Path, http: str, host: str, port: int, *, main: str = "") -> Iterator[Serving]:
    """An nginx with these settings, until the body ends. Its own files are in `folder`.

    `http` is the inside of that block, `main` goes before it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    spools = "".join(
        f"  {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    settings = folder / "nginx.conf"
    settings.write_text(
        f"daemon off; worker_processes 1; pid {folder}/nginx.pid;\n"
        + ("user root;\n" if os.geteuid() == 0 else "")  # the files may be anybody's
        + (main or "events { worker_connections 1024; }\n")
        + f"http {{\n{spools}{http}}}\n"
    )
    if _answers(host, port):
        raise RuntimeError(f"something else listens on {host}:{port}")
    process = subprocess.Popen([NGINX, "-p", folder, "-e", folder / "error.log", "-c", settings])
    try:
        _wait(process, host, port)
        yield Serving(f"{host}:{port}", folder / "access.log", process.pid)
    finally:
        process.terminate()
        process.wait(timeout=START_S)


def free_port(host: str = "127.0.0.1") -> int:
    with socket.socket() as free:
        free.bind((host, 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def served(
    place: Path, folder: Path, *, host: str = "127.0.0.1", port: int = 0, tls: bool = False
) -> Iterator[Serving]:
    """Serve a web that was written to `place`: plain or TLS, all of its hosts on one port."""
    folder.mkdir(parents=True, exist_ok=True)
    port = port or free_port(host)
    listen = f"listen {host}:{port} default_server backlog=8192"
    if tls:
        self_signed(folder, "simweb.test")
        pem = folder / "server.pem"
        # Nobody resumes, as on the simulated server.
        listen += f" ssl; ssl_certificate {pem}; ssl_certificate_key {pem}; ssl_session_tickets off"
    settings = f"""\
  map $args $query {{ "" ""; default "@$args"; }}
  server {{
    {listen};
    root {place.absolute()}/hosts/$host;
    location = /robots.txt {{ default_type "text/plain; charset=utf-8"; }}
    location = /sitemap.xml {{ default_type application/xml; }}
    location = / {{ rewrite ^ /{HOME} break; gzip_static always; }}
    location / {{ rewrite ^(.*)$ $1$query break; gzip_static always; }}
  }}
"""
    with many_served(folder, settings, host, port) as serving:
        yield serving


@contextmanager
def many_served(
    folder: Path, settings: str, host: str, port: int, *, modules: Collection[str] = ()
) -> Iterator[Serving]:
    """An nginx that has many files and many connections open at a time, with these servers."""
    # Even root may not be allowed more. Half for connections, a quarter for files that stay open.
    _, granted = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = min(granted if granted > 0 else MOST_DESCRIPTORS, MOST_DESCRIPTORS)
    http = f"""\
  sendfile on; tcp_nopush on; keepalive_timeout 600s; keepalive_requests 10000000;
  merge_slashes off; log_not_found off; server_tokens off;
  open_file_cache max={descriptors // 4} inactive=1h; open_file_cache_valid 1h;
  types {{ }} default_type "text/html; charset=utf-8";
  log_format short '$status $host$request_uri'; access_log {folder}/access.log short buffer=64k;
{settings}"""
    loaded = "".join(f"load_module {MODULES}/{name}.so;\n" for name in modules)
    main = loaded + (
        f"worker_rlimit_nofile {descriptors}; error_log {folder}/error.log crit;\n"
        f"events {{ worker_connections {descriptors // 2}; multi_accept on; }}\n"
    )
    with running(folder, http, host, port, main=main) as serving:
        yield serving


def _wait(process: "subprocess.Popen[bytes]", host: str, port: int) -> None:
    deadline_at = time.monotonic() + START_S
    while time.monotonic() < deadline_at:
        if process.poll() is not None:
            break
        if _answers(host, port):
            return
        time.sleep(0.02)
    raise RuntimeError("nginx did not start; see its error.log")


def _answers(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0
