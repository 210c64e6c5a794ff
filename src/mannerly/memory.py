"""Memory that is free goes back to the system.

Left alone, glibc learns from the first large body that is freed: it no longer gives back blocks of
that size, nor the end of its heap before 64 MiB of it are free; each thread has a heap of its own;
and Arrow keeps what it frees. After a burst of large pages a process kept 26 MiB more than it used,
among all the hostile servers of the tests 70 MiB. With the fixed limits below, one heap and no pool
of Arrow's own it is 40 to 44, and a page of 60 kB is parsed in half the time: glibc's first
threshold has every tree paged in anew.

Arrow's writer of Parquet asks for memory where nothing can be set once Arrow is loaded: it kept 26
MiB after a row group of 8. So the command line chooses Arrow's pool by its environment, before. A
program that crawls by the Python API keeps what it chose itself.

What that leaves are holes: bodies below `LARGE` lie in the one heap, which shrinks from its end
only. After 2,000 of 300 kB at once a process kept 310 MiB with a single visit in flight. `trim`
gives the pages of such holes back.

Python's collector is for objects that hold each other, of which a page leaves hardly any: what is
free is free at once. So it looks less often. (What was there from the start is not frozen: DuckDB
would complain at the end of the process that nobody collects it.)
"""

import ctypes
import gc
from typing import Final

import pyarrow as pa

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
MOST_KEPT: Final = 8 * 1024 * 1024
"""Free bytes at the end of the heap that are kept: enough for the tree of a page, so that not every
page asks the system for memory anew."""
LARGE: Final = 2 * 1024 * 1024
"""Blocks from this size on are the system's own, and go back at once. What the store works with is
smaller, mostly: with half of this each checkpoint has its buffers paged in anew, eight pages of
memory for every page in place of three."""
YOUNG: Final = 200_000
"""Objects that have come since it looked last. With Python's own 700 it looks at every few pages,
for three in a hundred of a page's CPU; with 20,000 still for 31 us of it, with this for 3 (by its
callbacks, 40,000 pages each). What it finds is next to nothing: 18 objects in 40,000 pages."""


def trim() -> None:
    """Give back all that is free now, wherever in the heap it lies. For when memory is short: with
    a heap of 300 MiB and many small blocks it takes 50 to 120 ms, in which nobody else gets any."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(ctypes.c_size_t(0))


def give_back() -> bool:
    """For this process, from now on. May be repeated. False: this C library has no such limits."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    pa.set_memory_pool(pa.system_memory_pool())
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    limits = {_M_TRIM_THRESHOLD: MOST_KEPT, _M_MMAP_THRESHOLD: LARGE, _M_ARENA_MAX: 1}
    taken = [mallopt(which, limit) for which, limit in limits.items()]
    return all(taken)
