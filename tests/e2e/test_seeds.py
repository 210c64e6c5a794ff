"""Seeds as people have them."""

import json
import subprocess
import sys
from pathlib import Path

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served


def test_all_kinds_of_lines(tmp_path: Path) -> None:
    spec = preset("plain", seed=1, sites=5, pages_mean=2.0, pages_max=3, body_mean=2000)
    with served(tmp_path, spec) as web:
        homes = web.homes()
        bare = homes[1].split("/")[2]
        lines = [
            b"\xef\xbb\xbf# a comment, after a BOM",
            b"",
            homes[0].encode() + b"\r",
            bare.encode(),
            b"http://" + homes[2].split("/")[2].upper().encode() + b":80/",
            "bücher.example".encode(),
            b"not a url at all",
            b"mailto:someone@example.org",
            b"\xff\xfe",
            homes[3].encode() + b"   # the last one",
        ]
        (tmp_path / "seeds.txt").write_bytes(b"\n".join(lines))
        done = mannerly("crawl", "--seed-file", str(tmp_path / "seeds.txt"), "--data-dir",
                        str(tmp_path / "data"), "--connect-to", web.address, *arguments(QUICK),
                        "--seeded-urls-only")  # fmt: skip
        assert done.returncode == 0, done.stderr
        for number in (7, 8, 9):
            assert f"line {number} " in done.stderr
        assert "line 1 " not in done.stderr
        visited = {record.host for record in web.records()}
    assert {home.split("/")[2] for home in homes[:4]} <= visited
    assert "xn--bcher-kva.example" in visited


def test_many_lines_in_bounded_memory(tmp_path: Path) -> None:
    count = 300_000
    with (tmp_path / "seeds.txt").open("w") as file:
        file.writelines(f"site-{n}.example\n" for n in range(count))
    # Not `ru_maxrss`: that begins with what the process that started this one had in memory.
    program = (
        "import sys\n"
        "from mannerly.cli import app\n"
        "app.main(sys.argv[1:], standalone_mode=False)\n"
        "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "print(status['VmHWM'].split()[0], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "crawl", "--seed-file", str(tmp_path / "seeds.txt"),
         "--data-dir", str(tmp_path / "data"), *arguments(QUICK), "--connect-to", "127.0.0.1:1",
         "--max-duration", "100ms", "--max-workers", "10", "--sqlite-sync", "NORMAL",
         "--processes", "1"],
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-1]) < 300 * 1024, "kilobytes"
    status = json.loads(mannerly("status", "--data-dir", str(tmp_path / "data"), "--json").stdout)
    assert status["sites"] == count
    assert status["urls_known"] >= count
