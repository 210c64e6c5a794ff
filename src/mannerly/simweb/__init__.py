"""A web derived from a seed: any page is a function of (seed, URL, attempt), and nothing is stored.

- `WebSpec` (spec.py) says what the web is like; `preset(name)` gives `plain`, `mixed`, `hostile`.
- `Web` (web.py) answers any URL and knows the truth about it: its links, whether robots.txt allows
  it. `reachable` (reach.py) is what a crawl should end up having asked for.
- The same answers come over real sockets (server.py) and in memory on virtual time (transport.py).
- Both keep an access log (access.py), and judge.py tells from it how a crawler behaved.

Names are under reserved top-level domains only, so nothing here can leak into the real web.
"""

from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Answer, Behaviour, Kind
from mannerly.simweb.reach import pages_among, reachable
from mannerly.simweb.spec import WebSpec, preset
from mannerly.simweb.web import Web

__all__ = [
    "AccessRecord",
    "Answer",
    "Behaviour",
    "Kind",
    "Web",
    "WebSpec",
    "pages_among",
    "preset",
    "reachable",
]
