"""What does a page cost other crawlers, on the same web in the same run? Prints one JSON line, and
a table for people on the error output.

    python -m benchmarks.peers [--sites 2000] [--only wget2,spider-rs] [--folder build/peers]

All of them are sent to the web that nginx serves, and are to read all of it: plain HTTP, robots.txt
obeyed where they can, no delay, pages of about 60 kB with gzip, no link written oddly. Mannerly
goes before and after each, and `times_ours` is CPU a page over the mean of its two neighbours. CPU
is user + system of the crawler's processes, start-up included; pages are counted in nginx's log.

Wants root: nginx listens on port 80 of a loopback address, since no peer can be told another port,
and who finds names through the system only is given a hosts file in a mount namespace of its own.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.bytecode import make_bytecode
from benchmarks.crawl.webs import spec_of, web_options
from benchmarks.peers.roster import PEERS, Tools
from benchmarks.peers.turn import ADDRESS, Turn, hosts_file, turn
from benchmarks.web.written import written
from mannerly.simweb.web import Web

FOLDER = Path(__file__).parents[2] / "build" / "peers"
OURS = "mannerly"


def main() -> None:
    options = _options()
    if os.geteuid():
        sys.exit("wants root: port 80, and a mount namespace")
    make_bytecode()
    # Debian's wget2 ends with an error at the first link that has `/../` in it.
    web = Web(replace(spec_of(options), odd_links=0.0))
    place = written(web.spec, options.webs)
    tools = Tools(options.folder).words()
    told: dict[str, dict[str, Any]] = {}
    ours: list[Turn] = []
    with tempfile.TemporaryDirectory() as scratch:
        hosts = hosts_file(place, Path(scratch) / "hosts")

        def goes(name: str) -> Turn:
            peer, folder = PEERS[name], Path(scratch) / name
            words = peer.command.format(
                seeds=place / "seeds.txt", out=folder / "out", address=ADDRESS, **tools
            ).split()
            peer_hosts = hosts if peer.by_hosts_file else None
            done = turn(words, place, folder, hosts=peer_hosts, limit_s=options.limit)
            shutil.rmtree(folder)
            print(f"{name}: {done.cpu_ms_per_page:.3f} ms", file=sys.stderr, flush=True)
            return done

        ours.append(goes(OURS))
        for name in options.only:
            if missing := [
                tool for tool, path in tools.items() if _wanted(name, tool) and not path
            ]:
                told[name] = {"left_out": f"no {', '.join(missing)} here"}
                continue
            theirs = goes(name)
            ours.append(goes(OURS))
            beside = statistics.mean(it.cpu_ms_per_page for it in ours[-2:])
            told[name] = figures(name, theirs, web)
            told[name]["times_ours"] = round(theirs.cpu_ms_per_page / beside, 2)
    middle = sorted(ours, key=lambda it: it.cpu_ms_per_page)[len(ours) // 2]
    told = {OURS: figures(OURS, middle, web), **told}
    told[OURS]["rounds_ms_per_page"] = [round(it.cpu_ms_per_page, 3) for it in ours]
    print(table(told), file=sys.stderr)
    print(json.dumps({"sites": options.sites, "body_bytes": options.body, "peers": told}))


def figures(name: str, done: Turn, web: Web) -> dict[str, Any]:
    """What is told of one turn."""
    return {
        "cpu_ms_per_page": round(done.cpu_ms_per_page, 3),
        "pages": done.pages,
        "pages_per_s": round(done.pages / done.elapsed_s, 1),
        "sent_again": done.sent_again,
        "disallowed": sum(not web.allowed(f"http://{url}") for url in done.urls),
        "other_requests": done.other_requests,
        "peak_rss_mb": round(done.peak_rss_mb, 1),
        "exit_code": done.exit_code,
        "does": PEERS[name].does._asdict(),
        "command": PEERS[name].command,
    }


def table(told: dict[str, dict[str, Any]]) -> str:
    """For people, in Markdown."""
    lines = [
        "| crawler | CPU ms a page | times ours | pages | disallowed ones among them | robots.txt "
        "| text | durable | keeps |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, it in told.items():
        if "left_out" in it:
            lines.append(f"| {name} | {it['left_out']} | | | | | | | |")
            continue
        does = [{True: "yes", False: "no"}.get(value, value) for value in it["does"].values()]
        times = f"{it['times_ours']:.2f}" if "times_ours" in it else "1"
        counts = [str(it["pages"]), str(it["disallowed"])]
        cells = [name, f"{it['cpu_ms_per_page']:.2f}", times, *counts, *does]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _wanted(name: str, tool: str) -> bool:
    return f"{{{tool}}}" in PEERS[name].command


def _options() -> argparse.Namespace:
    others = [name for name in PEERS if name != OURS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    web_options(parser, sites=2000, pages_mean=20.0, pages_max=100)
    parser.add_argument("--only", type=lambda names: names.split(","), default=others)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where peers are installed")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds for each turn")
    options = parser.parse_args()
    if unknown := set(options.only) - set(others):
        parser.error(f"no peer {', '.join(sorted(unknown))}; there are {', '.join(others)}")
    return options


if __name__ == "__main__":
    main()
