from mannerly.frontier.conformance.committing import *  # noqa: F403
