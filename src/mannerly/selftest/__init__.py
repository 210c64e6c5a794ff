"""`mannerly selftest`: does this machine, with this database, keep what Mannerly promises?

A short crawl of a hostile simulated web by several real processes that are killed again and again
(`trial`), judged from the web server's own log and from the store (`verdict`).
"""

from mannerly.selftest.trial import Terms, Trial, carried_out
from mannerly.selftest.verdict import Finding, judge, spaced

__all__ = ["Finding", "Terms", "Trial", "carried_out", "judge", "spaced"]
