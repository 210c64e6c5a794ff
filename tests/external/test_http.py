"""The transport on the HTTP cases of the suite."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from mannerly.clock import SystemClock
from mannerly.fetch.dns import Resolved
from mannerly.fetch.http import HttpTransport
from mannerly.model import Outcome

BODY = b"Fact: this is really forty-two bytes long."

REFUSED = "browsers ignore what is no number and read to the end; here the end of a body in doubt"
DEVIATIONS = {
    "Content-Length: aaaah\r\nContent-Length: aaaah": REFUSED,
    "Content-Length: aaaah, aaaah": REFUSED,
    "Content-Length: aaaah": f"{REFUSED} (hostile case F05 demands an error)",
    "Content-Length: 42s": REFUSED,
    "Content-Length: 30s": REFUSED,
    "Content-Length: -1": f"{REFUSED} (hostile case F04 demands an error)",
    "Content-Length: 0x20": REFUSED,
    'Content-Length: "30"': REFUSED,
}
"""Cases in which a browser shows the page and Mannerly calls it broken, with the reason."""


class NoResolver:
    async def resolve(self, host: str) -> Resolved:
        raise AssertionError(f"{host} was looked up")


async def length_read(headers: str) -> int | None:
    """How many bytes of BODY the transport takes for the response; None if it is broken."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n" + headers.encode("latin-1") + b"\r\n\r\n" + BODY)
        writer.close()
        await writer.wait_closed()

    clock = SystemClock()
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        transport = HttpTransport(
            clock=clock,
            user_agent="test/1",
            contact="",
            resolver=NoResolver(),
            connect_to=server.sockets[0].getsockname(),
        )
        end_at = clock.now() + 5
        fetched = await transport.open("http://a.example").get(
            "http://a.example/", deadline_at=end_at, start_by_at=end_at, body_limit=1000
        )
        await transport.aclose()
    if fetched.failure is None:
        return len(fetched.body)
    assert fetched.failure is Outcome.BROKEN
    assert fetched.body == b""
    return None


async def test_content_length_cases_one_by_one(
    suites: Path, record_property: Callable[[str, object], None]
) -> None:
    cases = json.loads((suites / "http" / "wpt_content_length_cases.json").read_text())
    different = {}
    for case in cases:
        read = await length_read(case["input"])
        record_property(case["input"], f"{read} (browsers: {case['output']})")
        if read != case["output"]:
            different[case["input"]] = read
    # Every deviation is one that is known, all of them are in the safe direction, and none is
    # listed that is no longer one.
    assert different == dict.fromkeys(DEVIATIONS)
    assert len(cases) - len(different) == 27


def test_every_hostile_case_has_its_like_among_our_own(suites: Path) -> None:
    """The behaviours themselves are played in tests/unit/fetch, under the same ids."""
    hostile = json.loads((suites / "http" / "hostile_cases.json").read_text())
    folder = Path(__file__).parents[1] / "unit" / "fetch"
    ours = "".join(path.read_text() for path in sorted(folder.glob("test_*.py")))
    missing = [case["id"] for case in hostile["cases"] if case["id"] not in ours]
    assert missing == []
