from mannerly.frontier.conformance.sites import *  # noqa: F403
