"""What does the frontier cost, and does it stay flat as it grows? `python -m benchmarks.frontier`.

workload.py    the URLs: a fill, and batches of links as pages give them
engines.py     SQLite, PostgreSQL and Redis: opened, weighed, and their processes' CPU counted
cost.py        CPU and wall time of blocks; percentiles
steps.py       what is measured at one size
adder.py       the other process, which adds without pause
naive.py       the design that it replaces, on the same data
"""
