"""Politeness: what robots.txt allows, and how long a site rests. Pure decisions, no I/O."""
