from mannerly.frontier.conformance.shares import *  # noqa: F403
