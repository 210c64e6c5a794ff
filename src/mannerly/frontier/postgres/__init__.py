"""The frontier on PostgreSQL: any number of machines on one server.

frontier.py      the contract's verbs; everything else serves them
adding.py        add
leasing.py       lease, claim
floor.py         where the walk to the first ready site begins
committing.py    commit
sites.py         sites by name; exclude
writers.py       enlist, writer_state, retire
moving.py        hand_over, export, restore
listing.py       explain, iterate, iterate_sites, find_sites
counting.py      tallies and stats
budgets.py       a site's counts, its lock, its spill
session.py       transactions, finding back to a server that was away
connection.py    the connection and its time-outs
crawlclock.py    the frontier's clock (`frontier.server_clock`): reading and mending it
schema.py        migrations (`migrations/NNNN_*.sql`)
statements.py    the SQL
arrays.py        batches as parameters
trouble.py       psycopg's errors in our words
"""

from mannerly.frontier.postgres.connection import TimeOuts
from mannerly.frontier.postgres.frontier import PostgresFrontier

__all__ = ["PostgresFrontier", "TimeOuts"]
