from mannerly.frontier.conformance.crashes import *  # noqa: F403
