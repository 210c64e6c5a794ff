"""The webs that crawls are measured on, and the two servers that they can come from.

nginx costs 0.12 to 0.16 ms a page and sends what lies there. The simulated server makes each page
when it is asked for, which costs some four times that; but it can be late, and speak plain HTTP and
TLS on one port. The pages have the same URLs and links on both; their markup differs
(`benchmarks.web.layout`), so figures are compared on one server only.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.web import nginx
from benchmarks.web.written import written
from mannerly.simweb.spec import WebSpec, preset
from mannerly.simweb.web import Web

WRITTEN = Path(__file__).parents[2] / "build" / "webs"
"""Where webs are written to, and kept: a large one takes minutes."""


class ServedWeb(NamedTuple):
    server: str
    """`nginx` or `simweb`."""
    address: str
    seeds: Path
    pid: int

    def cpu_s(self) -> float:
        """CPU time so far of the server's processes."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        ticks = 0
        for pid in [str(self.pid), *children]:
            # The name in brackets may hold anything; what follows it is numbers.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def web_options(
    parser: argparse.ArgumentParser, *, sites: int, pages_mean: float, pages_max: int
) -> None:
    """The options that say which web is meant, and who serves it."""
    parser.add_argument("--sites", type=int, default=sites)
    parser.add_argument("--pages-mean", type=float, default=pages_mean)
    parser.add_argument("--pages-max", type=int, default=pages_max)
    parser.add_argument("--https", type=float, default=0.0, help="share of sites on https")
    parser.add_argument("--latency", type=float, default=0.0, help="mean seconds to a response")
    parser.add_argument("--body", type=int, default=60_000, help="mean bytes of a page")
    parser.add_argument(
        "--server",
        choices=("auto", "nginx", "simweb"),
        default="auto",
        help="auto is nginx for a web without latency, all plain or all https",
    )
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")


def spec_of(options: argparse.Namespace) -> WebSpec:
    return preset(
        "plain",
        sites=options.sites,
        pages_mean=options.pages_mean,
        pages_max=options.pages_max,
        body_mean=options.body,
        https=options.https,
        latency_s=options.latency,
    )


@contextmanager
def served_web(options: argparse.Namespace, scratch: Path) -> Iterator[ServedWeb]:
    """The web of these options, until the body ends."""
    spec = spec_of(options)
    still = not spec.latency_s and spec.https in (0.0, 1.0)
    server = options.server
    if server == "auto":
        server = "nginx" if still else "simweb"
    if server == "simweb":
        with _simulated(spec, scratch) as web:
            yield web
        return
    if not still:
        sys.exit("nginx serves no web with latency, or with plain and https sites: --server simweb")
    place = written(spec, options.webs)
    with nginx.served(place, scratch / "nginx", tls=spec.https == 1.0) as serving:
        yield ServedWeb(server, serving.address, place / "seeds.txt", serving.pid)


@contextmanager
def _simulated(spec: WebSpec, scratch: Path) -> Iterator[ServedWeb]:
    seeds = scratch / "seeds.txt"
    homes = map(Web(spec).home, range(spec.sites))
    seeds.write_text("".join(f"{home}\n" for home in homes))
    command = [
        *(sys.executable, "-m", "mannerly", "simweb", "serve", "--preset", "plain", "--port", "0"),
        *("--sites", str(spec.sites), "--https", str(spec.https)),
        *("--pages-mean", str(spec.pages_mean), "--pages-max", str(spec.pages_max)),
        *("--body-mean", str(spec.body_mean), "--latency", str(spec.latency_s)),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[3]
            yield ServedWeb("simweb", address, seeds, server.pid)
        finally:
            server.terminate()
