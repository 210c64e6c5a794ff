from mannerly.frontier.conformance.excluding import *  # noqa: F403
