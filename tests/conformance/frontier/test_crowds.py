from mannerly.frontier.conformance.crowds import *  # noqa: F403
