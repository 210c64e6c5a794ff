"""The external suite is found as for the other tests that read it."""

from tests.external.conftest import suites

__all__ = ["suites"]
