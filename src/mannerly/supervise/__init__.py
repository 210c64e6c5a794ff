"""Several crawl processes on one machine: started, watched, replaced, summed up and ended together.

The processes are identical, and each crawls for itself: it leases, fetches, parses and journals, so
no page crosses a process border. Between them and their parent goes a little JSON once a second
(`messages`). `supervisor` is the parent's side, `inside` runs in the child, `child` is what the
parent sees of it; `shares` and `restarts` decide, without doing anything.
"""
