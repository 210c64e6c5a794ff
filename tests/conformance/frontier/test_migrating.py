from mannerly.frontier.conformance.migrating import *  # noqa: F403
