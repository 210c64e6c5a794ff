"""The frontier: which URLs there are, which are done, and which site may be visited now."""
