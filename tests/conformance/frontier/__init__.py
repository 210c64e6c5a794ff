"""`mannerly.frontier.conformance` on every engine: the factories, and modules that pull it in."""
