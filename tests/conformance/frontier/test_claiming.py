from mannerly.frontier.conformance.claiming import *  # noqa: F403
