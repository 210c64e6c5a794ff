"""What the external suite expects of the crawler, in words, made into a check."""

from tests.hostile.run import Row

FAILED = frozenset({"broken", "tls_failed", "connect_failed"})


def fits(expect: str, fetch: Row, page: Row | None) -> bool:
    """Whether an outcome is among those that the words of a case allow. Each phrase must be known:
    a case in other words is one that nobody has thought about."""
    outcome = fetch["outcome"]
    whole = outcome == "fetched" and (page is None or not page["truncated"])
    cut = outcome == "fetched" and page is not None and page["truncated"]
    if "not treated as a" in expect:
        return not whole or page is None
    if "status 999" in expect:
        return bool(outcome == "http_error" and fetch["status"] == 999)
    allowed = []
    if "error(timeout)" in expect:
        allowed.append(outcome == "timed_out")
    if "error" in expect.replace("error(timeout)", ""):
        allowed.append(outcome in FAILED)
    if (
        expect.startswith("ok")
        or "or ok" in expect
        or "read to close" in expect
        or "by SP" in expect
    ):
        allowed.append(whole)
    if "truncated" in expect or "stop at B" in expect:
        allowed.append(cut)
    assert allowed, f"words that are not understood: {expect!r}"
    return any(allowed)
