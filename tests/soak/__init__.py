"""The soak: an ordinary crawl for the better part of an hour, in which nothing may grow that should
not. `python -m tests.soak --minutes 45`, or `make soak SOAK_MINUTES=45`.
"""
