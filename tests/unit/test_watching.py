"""What a process tells of itself while it ends."""

import threading
import time
from pathlib import Path

from mannerly.clock import SystemClock
from mannerly.config import build
from mannerly.engine.consumer import NOBODY
from mannerly.observe.tally import Tally
from mannerly.timing import Timings
from mannerly.watching import Watch


def test_what_a_thread_took_stays_its_stage_s_when_it_has_ended(tmp_path: Path) -> None:
    clock = SystemClock()
    config = build({"email": "test@example.org", "data_dir": tmp_path})
    watch = Watch(config, Tally(clock.now()), Timings(), clock, NOBODY)
    worked, may_end = threading.Event(), threading.Event()

    def work() -> None:
        while time.thread_time() < 0.3:
            pass
        worked.set()
        may_end.wait()

    store = threading.Thread(target=work, name="store")
    store.start()
    worked.wait()
    before = watch.snapshot().cpu_s
    may_end.set()
    store.join()
    after = watch.snapshot().cpu_s
    assert before["store"] > 0.2
    assert after["store"] >= before["store"]
    assert after["other"] < before["other"] + 0.2
