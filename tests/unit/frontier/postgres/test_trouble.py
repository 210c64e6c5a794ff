"""What callers are told: one line, what to do, and never a password."""

import logging

import pytest

from mannerly.errors import FrontierError, FrontierMisuseError
from mannerly.frontier.conformance.shapes import Worker, settled, url
from mannerly.frontier.postgres import TimeOuts
from mannerly.model import Commit, Outcome
from mannerly.timing import Timings
from tests.services.postgres import shared
from tests.unit.frontier.postgres.opening import opened

SECRET = "hunter2"
LIMITS = TimeOuts(connect_s=2)


def told(error: BaseException) -> str:
    """Everything that a trace would show of an exception."""
    said = []
    cause: BaseException | None = error
    while cause is not None:
        said.append(f"{cause!r} {cause}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "\n".join(said)


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        (f"postgresql://me:{SECRET}@127.0.0.1:1/x", "check that it runs"),
        (f"postgresql://me@127.0.0.1:1/x?password={SECRET}", "check that it runs"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/x?nonsense=1", "cannot be understood"),
        (f"postgresql://me:{SECRET}@[127.0.0.1:1/x", "cannot be understood"),
        (f"postgresql://me:{SECRET}@127.0.0.1:PORT/nowhere", "nowhere"),
    ],
)
async def test_a_password_is_never_shown(
    address: str, advice: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = address.replace("PORT", str(shared().port))
    with pytest.raises(FrontierError, match=advice) as caught:
        await opened(address, "mannerly", LIMITS).__aenter__()
    assert SECRET not in told(caught.value)
    assert SECRET not in caplog.text
    assert "\n" not in str(caught.value)


async def test_misuse_is_told_apart_and_does_nothing() -> None:
    async with opened(shared().url, "misuse") as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1), url("a.example", 2)])
        (lease,) = await worker.lease(urls=2)
        one, two = settled(lease, 0), settled(lease, 1)
        for wrong in ([one, one], [one, two._replace(seq=two.seq + 1)], [one._replace(hash=9)]):
            with pytest.raises(FrontierMisuseError, match="not at its place"):
                await frontier.commit(worker.writer, Commit(1, wrong))
        for outcome in (Outcome.PENDING, Outcome.NOT_SENT):
            with pytest.raises(FrontierMisuseError, match="cannot be settled"):
                await frontier.commit(worker.writer, Commit(1, [one._replace(outcome=outcome)]))
        with pytest.raises(FrontierMisuseError, match="never enlisted"):
            await frontier.lease(worker.writer + 1, 1, ttl_s=60, urls_per_site=1)
        assert (await frontier.stats()).urls_pending == 2
        await frontier.commit(worker.writer, Commit(1, [one, two]))
        assert (await frontier.stats()).urls_pending == 0


async def test_every_operation_is_timed() -> None:
    frontier = opened(shared().url, "timed")
    async with frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1)])
        (lease,) = await worker.lease(1)
        await worker.commit(settled(lease))
    timings: Timings = frontier._timings
    counted = {name: it.count for name, it in timings.operations().items()}
    assert counted["connect"] == counted["enlist"] == counted["add"] == 1
    assert counted["lease"] == counted["commit"] == 1
    assert counted["held"] >= 5
