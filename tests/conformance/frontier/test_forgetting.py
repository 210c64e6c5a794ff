from mannerly.frontier.conformance.forgetting import *  # noqa: F403
