"""The suite of `mannerly.frontier.contract`: what every engine of the frontier must pass.

It knows engines only through `Engine` (engine.py), and comes as modules of tests, one per topic. A
project that has an engine gives a factory in a conftest and pulls the topics in, as
`docs/howto/new-engine.md` shows and `tests/conformance/frontier` does.

pytest, pytest-asyncio and hypothesis are needed by who runs it (`mannerly[conformance]`), and by
nobody else: nothing in Mannerly imports this package.

Durations are chosen so that it does not matter how long a test itself takes on an engine whose
clock runs on: time is moved in steps of 10 s or more, and nothing becomes ready near a step. Where
real processes are needed (processes, crowds, crashes, shares), they run in real time.

engine.py      what is asked of an engine
fixtures.py    what a conftest imports
shapes.py      short names for what the tests send
model.py       the contract as a small program
old_crawl.py   what an old schema must hold to be upgraded from
visits.py      what crawlers in processes of their own report, and the judging of it
crawler.py     such a crawler
"""

TOPICS = (
    "beating",
    "creating",
    "adding",
    "leasing",
    "claiming",
    "committing",
    "sites",
    "caps_on_pending",
    "caps_on_pages",
    "excluding",
    "forgetting",
    "explaining",
    "listing",
    "timekeeping",
    "any_sequence",
    "shares",
    "takeover",
    "crashes",
    "processes",
    "crowds",
    "migrating",
    "moving",
)
"""The modules that hold tests."""
