"""No address of this machine or its network is connected to, however it is written."""

import json
import socket
from pathlib import Path

from tests.hostile.run import OPTIONS
from tests.programs import arguments, mannerly

HOSTS = [
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "10.0.0.1",
    "169.254.169.254",
    "192.168.1.1",
    "[fe80::1]",
    "[fd00:ec2::254]",
]


def test_literal_private_addresses_are_refused_unasked(tmp_path: Path) -> None:
    """A redirect to one goes through the frontier like any URL, so seeds show the same."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("".join(f"http://{host}:{port}/\n" for host in HOSTS))
        options = {**OPTIONS, "--ports": f"80,443,{port}", "--data-dir": str(tmp_path / "data")}
        done = mannerly("crawl", "--seed-file", str(seeds), *arguments(options))
        assert done.returncode == 0, done.stderr
        listener.setblocking(False)
        try:
            listener.accept()
        except BlockingIOError:
            pass
        else:
            raise AssertionError("somebody connected")
    status = mannerly("status", "--data-dir", str(tmp_path / "data"), "--json")
    settled = json.loads(status.stdout)["settled"]
    assert set(settled) == {"address_refused"}
    # Some of them are the same address, written differently.
    assert settled["address_refused"] >= 9
