"""The engine closes the loop: frontier -> lease -> visit -> parse -> journal -> checkpoint.

1. The leaser (`leaser`) asks the frontier for sites that are ready and seats them at the workbench
   (`workbench`), just enough of them that no fetch slot waits.
2. The crawler (`crawler`) takes a ready seat whenever a slot is free and serves it in a task.
3. The visitor (`visit`) makes one visit: robots gate (`gatekeeper`), robots.txt if need be
   (`robots_reader`, what it means: `robots`), one page. A robots.txt on another site is read under
   a lease of that site (`claims`), or from a copy (`copies`).
4. The page is read once (`page`): text for the store, links through the sieve (`sieve`). What a
   redirect leads to: `redirects`; a bare domain without https: `fallback`.
5. What came of it is noted in the ledger (`ledger`), and every request in the request book
   (`requests`).
6. The checkpointer (`checkpoint`) makes the ledger durable: journal, links, then outcomes.

Everything here runs on one event loop; the clock, the transport and the executors are given to it,
so that the same code lives in a simulated world (`tests/simulation`).
"""
