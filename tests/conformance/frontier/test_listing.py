from mannerly.frontier.conformance.listing import *  # noqa: F403
