"""A page that kills whoever reads it is found and given up; everything else is crawled."""

import signal
import subprocess
import sys
from pathlib import Path

from mannerly.store.deaths import MOST
from mannerly.store.read import open_store
from tests.crash.deadly_page import DEADLY
from tests.external.playing import Asking, Host, Players, listening, port_of
from tests.programs import QUICK, arguments, environment, mannerly

PROJECT = Path(__file__).parents[2]
HOSTS = ("good-1.test", "deadly.test", "good-2.test")


def test_a_page_that_kills_its_reader_is_given_up(tmp_path: Path) -> None:
    data, seeds = tmp_path / "data", tmp_path / "seeds.txt"
    seeds.write_text("".join(f"http://{host}/\n" for host in HOSTS))

    def answer(asking: Asking) -> None:
        links = b"<a href='/a'>a</a>" if asking.path == "/" else b""
        word = DEADLY if asking.host == "deadly.test" and asking.path == "/a" else b"words"
        asking.answer(200, b"<html><body>" + links + word, "Content-Type: text/html")

    with listening() as listener:
        Players({host: Host({"/": answer, "/a": answer}) for host in HOSTS}, [listener])
        words = ["crawl", "--data-dir", str(data), "--connect-to", f"127.0.0.1:{port_of(listener)}",
                 *arguments({**QUICK, "--checkpoint-interval": "100ms"})]  # fmt: skip
        deaths = 0
        while died(*words, *(["--resume"] if deaths else ["--seed-file", str(seeds)])):
            deaths += 1
            assert deaths <= MOST, "it comes again for ever"
    assert deaths == MOST
    with open_store(data) as store:
        rows = store.execute("SELECT url, outcome, detail FROM fetches ORDER BY url").fetchall()
        stored = store.execute("SELECT count(*) FROM pages").fetchone()
    became = {url: (outcome, detail) for url, outcome, detail in rows}
    assert became.pop("http://deadly.test/a") == (
        "broken",
        "each time it was read, our process died",
    )
    assert set(became.values()) == {("fetched", "")}
    assert stored == (2 * len(HOSTS) - 1,)
    explained = mannerly("explain", "http://deadly.test/a", "--data-dir", str(data))
    assert "each time it was read, our process died" in explained.stdout
    # Nothing is left of the notes but what was counted.
    assert [path.name for path in (data / "deaths").iterdir()] == ["counted"]


def died(*words: str) -> bool:
    """Run it: did it die as it should? Else it must have come to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.deadly_page", *words],
        capture_output=True, text=True, timeout=120, check=False, cwd=PROJECT, env=environment(),
    )  # fmt: skip
    if done.returncode == -signal.SIGSEGV:
        return True
    assert done.returncode == 0, done.stderr
    return False
