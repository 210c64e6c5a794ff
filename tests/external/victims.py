"""A crawl in a network where every address there is has a listener: `unshare --map-root-user --net
python -m tests.external.victims DIRECTORY DENIED.json guarded|open`. Prints as JSON who was
connected to.

The namespace has only its loopback, and routes that make all of IPv4 and IPv6 local (AnyIP):
nothing can leave, and whatever the crawler connects to, it ends at the listener here, which notes
the address. Two of them play the public web; all others are victims, the public ones included that
nothing of the case names.
"""

import json
import socket
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.external.odd_spellings import SPELLINGS
from tests.external.playing import Asking, Host, Players
from tests.programs import QUICK, arguments, mannerly
from tests.services.name_server import CNAME, NameServer, Record, addresses

PUBLIC = "93.184.215.14"
PUBLIC_6 = "2606:2800:21f:cb07::14"
INSIDE = "10.0.0.1"
WAYS = ("seed", "link", "redirect")
HOSTS_OF_REDIRECTS = 20
"""Sites among which the redirects are spread, since each is visited with a delay."""

GAMES = {
    "alias.test": [[Record(CNAME, "inside.test"), *addresses(INSIDE)]],
    "alias-with-owner.test": [[Record(CNAME, "in.test"), Record(1, INSIDE, "in.test")]],
    "mapped.test": [addresses("::ffff:127.0.0.1")],
    "mapped-metadata.test": [addresses("::ffff:169.254.169.254")],
    "six-private.test": [addresses("fd00:ec2::254")],
    "six-loopback.test": [addresses("::1")],
    "four-private.test": [addresses(INSIDE, PUBLIC_6)],
    "all-private.test": [addresses("127.0.0.1", "10.0.0.2", "192.168.0.1", "::1")],
}
"""Names that lead inside: refused."""
HARMLESS = {
    "six-only.test": [addresses(PUBLIC_6)],
    "mapped-public.test": [addresses(f"::ffff:{PUBLIC}")],
    "mixed.test": [addresses(INSIDE, PUBLIC)],
    "mixed-last.test": [addresses(PUBLIC, "127.0.0.1", "169.254.169.254")],
}
"""Names with an address that may be connected to: that one is used, and no other."""
REBINDING = {
    "rebinding.test": [addresses(PUBLIC), addresses("127.0.0.1")],
    "rebinding-six.test": [addresses(PUBLIC_6), addresses("::ffff:10.0.0.1")],
}
"""Public when first asked for, private ever after."""


class Door(socket.socket):
    """A listening socket that notes which address each connection came in at."""

    def __init__(self, family: socket.AddressFamily, port: int, noted: set[str]) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            self.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.bind(("", port))
        self.listen(500)
        self._noted = noted

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, peer = super().accept()
        self._noted.add(connection.getsockname()[0])
        return connection, peer


def main(directory: Path, denied: list[str], *, guarded: bool) -> None:
    for command in ("link set lo up", "route add local 0.0.0.0/0 dev lo",
                    "-6 route add local ::/0 dev lo"):  # fmt: skip
        subprocess.run(["ip", *command.split()], check=True)
    connected: set[str] = set()
    doors = [
        Door(family, port, connected)
        for family in (socket.AF_INET, socket.AF_INET6)
        for port in (80, 443)
    ]
    by_name = {f"of-{number}.test": [addresses(text)] for number, text in enumerate(denied)}
    hosts = [
        *(f"[{text}]" if ":" in text else text for text in denied),
        *SPELLINGS, *by_name, *GAMES, *HARMLESS,
    ]  # fmt: skip
    web, seeds = made_web(hosts)
    Players(web, [*doors])
    public = {name: [addresses(PUBLIC)] for name in web}
    # Names that nobody has heard of lead inside, too: localhost, and what a spelling may become.
    names = NameServer(
        {**public, **by_name, **GAMES, **HARMLESS, **REBINDING}, addresses("127.0.0.1", "::1")
    )
    seeds += [f"http://{name}/first" for name in REBINDING]
    crawl(directory, names, seeds, guarded=guarded)
    if guarded:
        again = [f"http://{name}/again" for name in REBINDING]
        crawl(directory, names, again, "--resume", guarded=guarded)
    seen = sorted(connected)  # before we connect ourselves
    reachable = [text for text in denied if answers(text)]
    print(json.dumps({
        "connected": seen, "public": [PUBLIC, PUBLIC_6], "reachable": reachable,
        "hosts": hosts, "asked_again": [names.asked(name) for name in REBINDING],
    }))  # fmt: skip


def made_web(hosts: list[str]) -> tuple[dict[str, Host], list[str]]:
    """The public part of the web, and the seeds: each host as a seed, as a link, as the target of
    a redirect and of a robots.txt."""
    links = "".join(f'<p><a href="http://{host}/link/{at}">x</a>' for at, host in enumerate(hosts))
    index = f"<!doctype html><meta charset=utf-8><title>Links</title>{links}".encode()
    web = {"links.test": Host({"/": partial(_page, body=index)})}
    seeds = ["http://links.test/"]
    for at, host in enumerate(hosts):
        seeds += [f"http://{host}/seed/{at}"]
        name = f"redirects-{at % HOSTS_OF_REDIRECTS}.test"
        target = f"http://{host}/redirect/{at}".encode().decode("latin-1")
        web.setdefault(name, Host()).plays[f"/{at}"] = partial(Asking.redirect, location=target)
        seeds.append(f"http://{name}/{at}")
        target = f"http://{host}/robots.txt".encode().decode("latin-1")
        web[f"robots-{at}.test"] = Host({"/robots.txt": partial(Asking.redirect, location=target)})
        seeds.append(f"http://robots-{at}.test/open")
    return web, seeds


def _page(asking: Asking, body: bytes) -> None:
    asking.answer(200, body, "Content-Type: text/html")


def crawl(directory: Path, names: NameServer, seeds: list[str], *more: str, guarded: bool) -> None:
    (directory / "seeds.txt").write_text("".join(f"{seed}\n" for seed in seeds))
    if not guarded:
        more = (*more, "--allow-private-addresses")
    done = mannerly(
        "crawl", "--seed-file", str(directory / "seeds.txt"), "--data-dir",
        str(directory / "data"), "--resolver", names.address, *arguments(QUICK), "--max-tries",
        "1", "--max-failures", "1000", "--connect-timeout", "3s", *more,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    print(done.stderr, file=sys.stderr)


def answers(address: str) -> bool:
    """Is there a way to connect to this address at all?"""
    with suppress(OSError), socket.create_connection((address, 80), timeout=5):
        return True
    return False


if __name__ == "__main__":
    main(
        Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())["deny_ip"],
        guarded=sys.argv[3] == "guarded",
    )  # fmt: skip
