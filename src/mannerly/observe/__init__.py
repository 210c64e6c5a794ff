"""Observation: counts, progress and what a person sees of a crawl."""
