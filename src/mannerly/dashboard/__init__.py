"""A page that shows a crawl and steers it, its metrics, and its health: see docs/dashboard.md.

It runs on a thread and an event loop of its own, and knows the crawl as a source of snapshots and
as controls (`mannerly.observe.snapshot`). So it does not matter whether one process or the parent
of many serves it, and a crawl that is busy or stands still can be looked at all the same.

serving    the thread, and which address it is at
http       requests and answers
guard      who may see and do what
routes     what is answered at which address
sampling   a look every second
sites      the table of sites, from a frontier of its own (`desk`)
asking     explain and search, as commands
page       the page itself (static/)
"""

from mannerly.dashboard.serving import dashboard_at

__all__ = ["dashboard_at"]
