"""The suite of `mannerly.frontier.contract`. It knows engines only through `engines.Engine`.

Durations are chosen so that it does not matter how long a test itself takes on an engine whose
clock runs on: time is moved in steps of 10 s or more, and nothing becomes ready near a step.
"""
