"""Real faults: real crawlers, servers and networks, broken on purpose, and the verdict on what came
of it. `python -m tests.faults NAME` carries one out (`make faults` all of them).

The judge is that of `mannerly selftest`: the web server's log and the stores decide, not what a
crawler says of itself.
"""
