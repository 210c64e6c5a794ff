from mannerly.frontier.conformance.leasing import *  # noqa: F403
