"""The embedded frontier: one SQLite file, any number of processes of one machine.

frontier.py      the contract's verbs; everything else serves them
adding.py        add
leasing.py       lease
committing.py    commit
writers.py       enlist, writer_state, retire
counting.py      tallies and stats
database.py      the connection, transactions, the write-ahead log
turn.py          the fair lock between processes
timekeeping.py   the frontier's clock, which goes on over a reboot
schema.py        migrations (`migrations/NNNN_*.sql`)
statements.py    the SQL
trouble.py       sqlite3's errors in our words
"""

from mannerly.frontier.sqlite.frontier import SqliteFrontier

__all__ = ["SqliteFrontier"]
