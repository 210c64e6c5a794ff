from mannerly.frontier.conformance.any_sequence import *  # noqa: F403
