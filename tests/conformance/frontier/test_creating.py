from mannerly.frontier.conformance.creating import *  # noqa: F403
