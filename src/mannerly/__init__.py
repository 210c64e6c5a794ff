"""Mannerly: a polite, fast, crash-proof web crawler."""

__version__ = "0.1.0"
