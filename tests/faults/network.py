"""Machines on one network: a network namespace each, joined by a bridge to this one.

Root only, with iproute2 and nftables (`apt-get install nftables`).
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

HUB = "10.213.77.1"
NETWORK = "10.213.77.0/24"
BRIDGE = "mannerly-hub"


class Machine:
    """A namespace. What runs `inside` it sees this network and nothing else."""

    def __init__(self, number: int) -> None:
        self.name = f"mannerly-{number}"
        self.inside = ["ip", "netns", "exec", self.name]
        self._number = number

    def plug_in(self) -> None:
        outer, inner = f"mannerly-v{self._number}", f"mannerly-w{self._number}"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
        run("ip", "link", "set", outer, "master", BRIDGE, "up")
        run("ip", "link", "set", inner, "netns", self.name)
        run(*self.inside, "ip", "address", "add", f"10.213.77.{10 + self._number}/24", "dev", inner)
        run(*self.inside, "ip", "link", "set", inner, "up")
        run(*self.inside, "ip", "link", "set", "lo", "up")

    def cut(self) -> None:
        """Nothing goes out or comes in any more, and nobody is told."""
        rules = "".join(
            f"add chain inet cut {hook} {{ type filter hook {hook} priority 0; policy drop; }}\n"
            for hook in ("input", "output")
        )
        run(*self.inside, "nft", "-f", "-", text=f"add table inet cut\n{rules}")

    def mend(self) -> None:
        run(*self.inside, "nft", "delete", "table", "inet", "cut")

    def remove(self) -> None:
        """Its links go with it."""
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)


@contextmanager
def machines(count: int) -> Iterator[list[Machine]]:
    made = [Machine(number) for number in range(count)]
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    try:
        run("ip", "address", "add", f"{HUB}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for machine in made:
            machine.plug_in()
        yield made
    finally:
        for machine in made:
            machine.remove()
        run("ip", "link", "del", BRIDGE)


def run(*command: str, text: str = "") -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
