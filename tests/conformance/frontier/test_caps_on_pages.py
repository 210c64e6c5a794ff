from mannerly.frontier.conformance.caps_on_pages import *  # noqa: F403
