"""The audit: a crawl's politeness, proved or refuted from its own records.

It reads the tables `requests` and `runs` and nothing else: no frontier, no network. What it holds a
crawl to is told in `RULES`; every rule is judged anew from what was recorded, not from what the
crawler thought of it at the time.

What it trusts:

- that a request that was made is on record. A process that is killed takes the requests of its last
  moments (one checkpoint interval) with it;
- the clock that nobody sets (boot time), for all that happened in one boot of one machine. Between
  machines, and over a reboot, there are only the wall clocks of those moments: what is found
  between two clocks is said to be so.

Where what came of a visit was void (its process was killed, or paused until its lease was lost) the
frontier never heard of the rest that was due. What holds then is the crawl's promise for all
weathers: the starts of two visits are the delay apart.
"""

from mannerly.audit.judgement import Audit, Report, SiteLine, Violation
from mannerly.audit.views import RULES

__all__ = ["RULES", "Audit", "Report", "SiteLine", "Violation"]
