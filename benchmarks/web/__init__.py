"""A web to measure crawlers on: the simulated one written out as files, and served by nginx."""
