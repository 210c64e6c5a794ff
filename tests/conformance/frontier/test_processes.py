from mannerly.frontier.conformance.processes import *  # noqa: F403
