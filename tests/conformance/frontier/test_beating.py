from mannerly.frontier.conformance.beating import *  # noqa: F403
