"""A crawl inside a network namespace: `unshare --map-root-user --net python -m
tests.external.private_web DIRECTORY`. Prints as JSON what the server saw.

The only network is the loopback, with a public and two private addresses on it: nothing can leave,
and nothing but the guard keeps the crawler from connecting to the private ones.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.external.playing import Asking, Host, Players, listening, names
from tests.programs import QUICK, arguments, mannerly

PUBLIC = "93.184.215.14"
PRIVATE = ("10.0.0.1", "169.254.169.254")
TARGETS = {
    "by-address.test": f"http://{PRIVATE[0]}/robots.txt",
    "by-metadata.test": f"http://{PRIVATE[1]}/robots.txt",
    "by-name.test": "http://inside.test/robots.txt",
}


def main(directory: Path) -> None:
    _run("ip", "link", "set", "lo", "up")
    for address in (PUBLIC, *PRIVATE):
        _run("ip", "address", "add", f"{address}/32", "dev", "lo")
    hosts = {
        host: Host({"/robots.txt": partial(Asking.redirect, location=target)})
        for host, target in TARGETS.items()
    }
    # A page's redirect is guarded in the same way.
    hosts["page.test"] = Host(
        {"/open": partial(Asking.redirect, location=f"http://{PRIVATE[0]}/page")}
    )
    players = Players(hosts, [listening("0.0.0.0", 80)])
    (directory / "seeds.txt").write_text("".join(f"http://{host}/open\n" for host in hosts))
    with names(f"--address=/inside.test/{PRIVATE[0]}", address=PUBLIC) as resolver:
        done = mannerly(
            "crawl", "--seed-file", str(directory / "seeds.txt"), "--data-dir",
            str(directory / "data"), "--resolver", resolver, *arguments(QUICK), "--max-tries", "2",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    connected = sorted({one.address for one in players.asked})
    asked = [one.url for one in players.asked]
    print(json.dumps({"connected": connected, "asked": asked, "public": PUBLIC}))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
