"""Is what a crawl has on disk whole, and do frontier and store agree? And mending it.

- `check(config)`: look at every file and compare; changes nothing, a crawl may run;
- `repair(config)`: mend what a crash, a full disk or a damaged one left; then check;
- `Report`: what was found, for people and for programs.
"""

from mannerly.checking.checker import check
from mannerly.checking.repair import repair
from mannerly.checking.report import Finding, Report

__all__ = ["Finding", "Report", "check", "repair"]
