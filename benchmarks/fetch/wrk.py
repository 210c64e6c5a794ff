"""wrk, the load generator in C, on the same server: what is possible without Python."""

import os
import re
import shutil
import subprocess
import sys

from benchmarks.fetch.server import CLOSING_PATH, PATH


def measure_ms(port: int, scheme: str, *, new: bool, connections: int, seconds: int) -> float:
    """CPU in ms per request."""
    program = shutil.which("wrk")
    if program is None:
        sys.exit("wrk is missing: apt-get install wrk")
    url = f"{scheme}://127.0.0.1:{port}{CLOSING_PATH if new else PATH}"
    command = [program, "-t1", f"-c{connections}", f"-d{seconds}s", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(r"(\d+) requests in", told)
    assert process.returncode == 0, told
    assert found, told
    return (used.ru_utime + used.ru_stime) / int(found[1]) * 1000
