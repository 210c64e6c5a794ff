from mannerly.frontier.conformance.moving import *  # noqa: F403
