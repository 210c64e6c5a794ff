"""One suite per contract, run on every implementation."""
