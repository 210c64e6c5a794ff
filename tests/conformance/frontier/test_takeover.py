from mannerly.frontier.conformance.takeover import *  # noqa: F403
