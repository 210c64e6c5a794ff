"""Fetching: addresses, connections, HTTP, bounds. Knows nothing of robots.txt or of pace."""
