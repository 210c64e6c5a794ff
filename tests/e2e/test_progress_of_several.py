"""What a person sees of several processes: their sum, while they crawl."""

import re
from pathlib import Path

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served


def test_lines_tell_what_all_processes_do(tmp_path: Path) -> None:
    spec = preset("plain", seed=5, sites=12, pages_mean=30.0, pages_max=40, body_mean=2000)
    options = {**QUICK, "--delay": "500ms", "--progress": "lines", "--processes": "2"}
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        told = mannerly("crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"),
                        "--connect-to", web.address, "--max-duration", "12s",
                        *arguments(options))  # fmt: skip
    assert told.returncode == 0, told.stderr
    pages = [int(n.replace(",", "")) for n in re.findall(r"  pages ([\d,]+)  ", told.stderr)]
    assert max(pages) > 20, told.stderr
