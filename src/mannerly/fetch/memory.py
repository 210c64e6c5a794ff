"""Memory that is free goes back to the system.

Left alone, glibc learns from the first large body that is freed: it no longer gives back blocks of
that size, nor the end of its heap before 64 MiB of it are free. After a burst of large pages a
process kept 26 MiB more than it used. With the fixed limits below it keeps what it uses; parsing
pages of 60 kB costs the same.
"""

import ctypes
from typing import Final

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
MOST_KEPT: Final = 8 * 1024 * 1024
"""Free bytes at the end of the heap that are kept: enough for the tree of a page, so that not every
page asks the system for memory anew."""
LARGE: Final = 1024 * 1024
"""Blocks from this size on are the system's own, and go back at once."""


def give_back() -> bool:
    """For this process, from now on. May be repeated. False: this C library has no such limits."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_TRIM_THRESHOLD, MOST_KEPT) and mallopt(_M_MMAP_THRESHOLD, LARGE))
