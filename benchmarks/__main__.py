"""Run every benchmark and keep what it printed: `python -m benchmarks [name ...]`.

Each prints one JSON line; it goes to `results/NAME.json` with the command and the machine.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
COMMANDS: dict[str, list[str]] = {
    "crawl-plain": ["crawl/cost_per_page.py"],
    "crawl-tls": ["crawl/cost_per_page.py", "--https", "1"],
    "fetch": ["fetch/cost_per_request.py"],
    "frontier": ["frontier/cost_per_url.py"],
    "parse": ["parse/cost_per_page.py"],
    "store": ["store/cost_per_page.py"],
}


def main() -> None:
    names = sys.argv[1:] or list(COMMANDS)
    unknown = set(names) - set(COMMANDS)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(COMMANDS)}")
    for name in names:
        script, *options = COMMANDS[name]
        printed = subprocess.run(
            [sys.executable, HERE / script, *options], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        result = {
            "command": " ".join(["python", f"benchmarks/{script}", *options]),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
            f"{platform.python_implementation()} {platform.python_version()}",
            "load_before": round(os.getloadavg()[0], 2),
            "figures": json.loads(printed.splitlines()[-1]),
        }
        (HERE / "results" / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")
        print(name, json.dumps(result["figures"]))


if __name__ == "__main__":
    main()
