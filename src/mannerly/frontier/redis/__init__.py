"""The frontier on Redis or Valkey: any number of machines on one server that holds it in memory,
or on the nodes of a Cluster.

frontier.py      the contract's verbs; everything else serves them
adding.py        add
leasing.py       lease, claim
committing.py    commit
concluding.py    a commit in a Cluster that was cut off
beginning.py     create, clear, settings
sites.py         enlist, retire, exclude, forget
crawlers.py      beat, crawlers
listing.py       explain, robots_of, iterate, iterate_sites, stats
finding.py       find_sites
moving.py        hand_over, export, restore
packing.py       URLs, places, records as bytes
session.py       calls, to one server or to several at a time
calling.py       what a call covers
links.py         which server has what, finding back to one that was away
link.py          the way to one server
connection.py    a connection and its time-outs
cluster.py       which node of a Cluster has which part of a crawl
crawlclock.py    the frontier's clock, which nobody sets: reading and mending it
server.py        how the server is set up, and what of it would lose a crawl
library.py       the functions that run on the server (`functions/*.lua`)
trouble.py       redis-py's errors in our words
"""

from mannerly.frontier.redis.connection import TimeOuts
from mannerly.frontier.redis.frontier import RedisFrontier

__all__ = ["RedisFrontier", "TimeOuts"]
