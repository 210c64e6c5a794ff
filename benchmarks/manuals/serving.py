"""nginx as Debian ships it, on a port of its own, with a host for each manual."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.web.nginx import free_port, running

OTHER = "application/x-other"
"""The type of what nginx has no type for: nothing that a crawler reads."""


@contextmanager
def served(roots: Mapping[str, Path], folder: Path) -> Iterator[str]:
    """Serve each host's root; gives the address. Logs and settings are in `folder`."""
    port = free_port()
    with running(folder, _settings(roots, folder, port), "127.0.0.1", port) as serving:
        yield serving.address


def _settings(roots: Mapping[str, Path], folder: Path, port: int) -> str:
    hosts = "".join(
        f"  server {{ listen 127.0.0.1:{port}; server_name {host}; root {root.absolute()};\n"
        f"    port_in_redirect off; index index.html; }}\n"
        for host, root in roots.items()
    )
    return (
        f"  include /etc/nginx/mime.types; default_type {OTHER};\n"
        f"  access_log {folder}/access.log; gzip on; keepalive_requests 100000;\n"
        # The default host: whoever is not named here has nothing.
        f"  server {{ listen 127.0.0.1:{port} default_server; return 404; }}\n"
        f"{hosts}"
    )
