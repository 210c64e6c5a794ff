from mannerly.frontier.conformance.timekeeping import *  # noqa: F403
