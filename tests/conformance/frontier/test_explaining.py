from mannerly.frontier.conformance.explaining import *  # noqa: F403
