"""The embedded frontier: one SQLite file, any number of processes of one machine.

frontier.py      the contract's verbs; everything else serves them
adding.py        add
leasing.py       lease
committing.py    commit
excluding.py     exclude
looking.py       explain, iterate
writers.py       enlist, writer_state, retire
moving.py        hand_over, export, restore
tally.py         tallies and stats
counts.py        a site's counts and its spill
database.py      the connection, transactions, the write-ahead log
turn.py          the fair lock between processes
timekeeping.py   the frontier's clock, which goes on over a reboot
schema.py        migrations (`migrations/NNNN_*.sql`)
statements.py    the SQL
trouble.py       sqlite3's errors in our words
"""

from mannerly.frontier.sqlite.frontier import SqliteFrontier

__all__ = ["SqliteFrontier"]
