from mannerly.frontier.conformance.caps_on_pending import *  # noqa: F403
