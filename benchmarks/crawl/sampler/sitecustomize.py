"""Loaded by every Python process of a measured crawl, as this folder is in its PYTHONPATH: tells at
its end where its CPU time went, in a file of its own in `STAGES_DIR`; with `STAGES_EVERY_S` also
after each so many seconds of the main thread's CPU.

The main thread is sampled by a timer on its own CPU time. (One on that of the process finds it
wherever it waits for the other threads, and blames that.) What it has used since the sample before
counts for the stage in which it is found: that of the innermost module that has one. The other
threads count as a whole, by their names. The crawler itself knows nothing of this, and pays about
0.5 %.
"""

import atexit
import ctypes
import json
import os
import resource
import signal
import struct
import sys
import threading
import time
from pathlib import Path
from types import FrameType

SAMPLE_S = 0.002
STAGES = {
    "mannerly.fetch.decode": "decode",
    "mannerly.fetch": "fetch",
    "mannerly.parse.simhash": "copies",
    "mannerly.parse.simhash_plain": "copies",
    "mannerly.engine.novelty": "copies",
    "mannerly.engine.twins": "copies",
    "mannerly.parse": "parse",
    "mannerly.url": "urls",
    "mannerly.engine.sieve": "urls",
    "mannerly.politeness": "robots",
    "mannerly.engine.robots": "robots",
    "mannerly.engine.robots_reader": "robots",
    "mannerly.engine.gatekeeper": "robots",
    "mannerly.frontier": "frontier",
    "mannerly.store": "store",
    "mannerly.observe": "observe",
    "mannerly.watching": "observe",
    "mannerly.engine": "engine",
}
"""By the longest name that fits; what has none is the loop's own."""
THREADS = {"frontier": "frontier", "store": "store", "operations": "observe"}
BEGUN = frozenset({"mannerly.engine.crawler", "mannerly.supervise.supervisor"})
"""Before one of these is found at work, all is start-up."""

_SIGEV_THREAD_ID = 4  # of Linux
_EVENT_BYTES = 64
EVERY_S = float(os.environ.get("STAGES_EVERY_S", "inf"))

spent_s: dict[str, float] = {}
_living: dict[threading.Thread, int] = {}
"""The clocks of the threads that run."""
_known: dict[str, str | None] = {}
_last_s = 0.0
_begun = False
_told_s = 0.0


def _stage(module: str) -> str | None:
    name = module
    while name:
        if name in STAGES:
            return STAGES[name]
        name = name.rpartition(".")[0]
    return None


def _sample(_number: int, frame: FrameType | None) -> None:
    global _last_s, _begun, _told_s  # noqa: PLW0603 - a module is all there is
    now_s = time.thread_time()
    stage = ""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _known:
            _known[module] = _stage(module)
        stage = stage or _known[module] or ""
        if _begun and stage:
            break
        _begun = _begun or module in BEGUN
        frame = frame.f_back
    name = (stage or "loop") if _begun else "start-up"
    spent_s[name] = spent_s.get(name, 0.0) + now_s - _last_s
    _last_s = now_s
    if now_s - _told_s >= EVERY_S:
        _told_s = now_s
        _tell()


def _tell() -> None:
    total_s = time.process_time()
    stages = dict(spent_s)
    for thread, clock in tuple(_living.items()):
        _count(stages, thread, clock)
    told = {
        "total_s": total_s,
        "stages": {**stages, "other": total_s - sum(stages.values())},
        "peak_rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    path = Path(os.environ["STAGES_DIR"], f"{os.getpid()}.json")
    whole = path.with_suffix(".part")  # somebody may be reading
    whole.write_text(json.dumps(told))
    whole.replace(path)


def _start() -> None:
    """Python has no timer of a thread's CPU time; the C library has."""
    library = ctypes.CDLL(None)
    event = struct.pack("qiii", 0, signal.SIGPROF, _SIGEV_THREAD_ID, threading.get_native_id())
    timer = ctypes.c_void_p()
    every = int(SAMPLE_S * 1e9)
    when = struct.pack("qqqq", 0, every, 0, every)
    if library.timer_create(
        time.CLOCK_THREAD_CPUTIME_ID,
        ctypes.create_string_buffer(event, _EVENT_BYTES),
        ctypes.byref(timer),
    ) or library.timer_settime(timer, 0, when, None):
        sys.exit("no timer of the main thread's CPU time can be had here")


def _told() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    _tell()


def _count(stages: dict[str, float], thread: threading.Thread, clock: int) -> None:
    stage = THREADS.get(thread.name, "other")
    stages[stage] = stages.get(stage, 0.0) + time.clock_gettime(clock)


def _run(self: threading.Thread) -> None:
    _living[self] = clock = time.pthread_getcpuclockid(threading.get_ident())
    try:
        _run_thread(self)
    finally:
        del _living[self]
        _count(spent_s, self, clock)


_run_thread = threading.Thread.run
if "STAGES_DIR" in os.environ and "mannerly" in " ".join(sys.orig_argv):
    threading.Thread.run = _run  # type: ignore[method-assign]
    atexit.register(_told)
    signal.signal(signal.SIGPROF, _sample)
    _start()
