from mannerly.frontier.conformance.adding import *  # noqa: F403
