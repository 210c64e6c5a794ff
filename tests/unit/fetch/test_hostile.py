"""What misbehaving servers do to the transport, by the ids of the hostile cases.

Each case asserts the outcome, the body, the time it took and that the connection was let go.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import uvloop

from mannerly.clock import SystemClock
from mannerly.fetch.contract import Fetched
from mannerly.model import Outcome
from tests.hostile.script import End, Endless, Pause, Script
from tests.unit.fetch.scripted_server import serving, transport_to

DEADLINE_S = 0.3
SLACK_S = 1.5
BODY_LIMIT = 64 * 1024
MIB = 1024 * 1024
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
TEN = OK + b"Content-Length: 10\r\n\r\n0123456789"
BROKEN, LATE = Outcome.BROKEN, Outcome.TIMED_OUT


@dataclass(frozen=True)
class Case:
    id: str
    script: Script
    failure: Outcome | None = None
    body: bytes = b""
    detail: str = ""
    """Must be part of the failure's words."""
    status: int = 200
    truncated: bool = False
    kept: bool = False
    """The connection may serve another request."""
    sent_below: int = 0
    """The server got rid of less than this (kernel buffers included)."""


CASES = [
    Case("C01-CLOSE-AT-ONCE", [End.CLOSE], BROKEN, detail="closed without a response"),
    Case("C02-RESET", [End.RESET], BROKEN, detail="connection lost"),
    Case("C03-NEVER-ANSWER", [End.HOLD], LATE),
    Case(
        "C04-RESET-MID-BODY",
        [OK + b"Content-Length: 99\r\n\r\nhalf", Pause(0.05), End.RESET],
        BROKEN,
        detail="connection lost",
    ),
    Case(
        "C04-RESET-MID-BODY-to-eof",
        [OK + b"\r\nhalf", Pause(0.05), End.RESET],
        BROKEN,
        detail="connection lost",
    ),
    Case("C05-SLOW-HEADERS", [OK, Endless(b"X-Slow: 1\r\n", 0.02)], LATE),
    Case("C05-SLOW-HEADERS-one-line", [OK + b"X: ", Endless(b"x", 0.01)], LATE),
    Case("C06-SLOW-BODY", [OK + b"Content-Length: 999999\r\n\r\n", Endless(b"x", 0.01)], LATE),
    Case("C06-SLOW-BODY-to-eof", [OK + b"\r\n", Endless(b"x", 0.01)], LATE),
    Case("C07-STALL-AFTER-HEADERS", [OK + b"Content-Length: 10\r\n\r\n", End.HOLD], LATE),
    Case("C08-STALL-BEFORE-LAST-BYTE", [TEN[:-1], End.HOLD], LATE),
    Case(
        "C10-PIPELINED-SECOND-RESPONSE",
        [TEN + OK + b"Content-Length: 8\r\n\r\nSMUGGLED", End.HOLD],
        body=b"0123456789",
    ),
    Case("C10-PIPELINED-partial", [TEN + b"HT", End.HOLD], body=b"0123456789"),
    Case("H01-HTTP09", [b"<html>old</html>", End.CLOSE], BROKEN, detail="no HTTP status line"),
    Case("H01-HTTP09-held-open", [b"<html>old</html>", End.HOLD], BROKEN, detail="status line"),
    Case("H02-GARBAGE", [bytes(range(256)) * 8, End.HOLD], BROKEN, detail="status line"),
    Case("H02-GARBAGE-SSH", [b"SSH-2.0-OpenSSH_9.2\r\n", End.HOLD], BROKEN, detail="status line"),
    Case("H03-STATUS-99", [b"HTTP/1.1 99 X\r\n\r\n", End.HOLD], BROKEN, detail="bad status line"),
    Case("H03-STATUS-0", [b"HTTP/1.1 000 X\r\n\r\n", End.HOLD], BROKEN, detail="status"),
    Case("H03-STATUS-2000", [b"HTTP/1.1 2000 X\r\n\r\n", End.HOLD], BROKEN),
    Case(
        "H04-STATUS-999",
        [b"HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\nno"],
        body=b"no",
        status=999,
        kept=True,
    ),
    Case("H05-STATUS-LETTERS", [b"HTTP/1.1 abc X\r\n\r\n", End.HOLD], BROKEN),
    Case("H06-NO-REASON", [b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"], body=b"ok", kept=True),
    Case("H07-LF-ONLY", [b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"], body=b"ok", kept=True),
    Case("H07-lower-case", [b"http/1.1 200 ok\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"),
    Case("H07-HTTP-2", [b"HTTP/2 200\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"),
    Case("H07-two-spaces", [b"HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"),
    Case(
        "H08-ENDLESS-HEADERS",
        [OK, Endless((b"X-Header: " + b"x" * 100 + b"\r\n") * 50)],
        BROKEN,
        detail="headers too large",
        sent_below=8 * MIB,
    ),
    Case(
        "H09-HEADER-LINE-10MB",
        [OK + b"X: ", Endless(b"x" * 10_000)],
        BROKEN,
        detail="headers too large",
        sent_below=8 * MIB,
    ),
    Case("H09-STATUS-LINE-endless", [OK[:-2], Endless(b"x" * 10_000)], BROKEN, detail="too large"),
    Case("H09-endless-blank-lines", [Endless(b"\r\n" * 5000)], BROKEN, detail="too large"),
    Case(
        "H10-TEN-THOUSAND-HEADERS",
        [OK + b"".join(b"a%d:\r\n" % i for i in range(10_000)) + b"\r\n", End.HOLD],
        BROKEN,
        detail="headers too large",
    ),
    Case(
        "H10-TWO-THOUSAND-HEADERS",
        [OK + b"".join(b"a%d:\r\n" % i for i in range(2000)) + b"\r\n", End.HOLD],
        BROKEN,
        detail="headers too large",
    ),
    Case("H11-NUL-IN-HEADER", [OK + b"X: a\0b\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"),
    Case(
        "H12-BARE-CR-IN-HEADER",
        [OK + b"X: a\rSet-Cookie: evil\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
    ),
    Case("H13-COLONLESS-HEADER", [OK + b"what is this\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"),
    Case(
        "H14-SPACE-BEFORE-COLON",
        [OK + b"Transfer-Encoding : chunked\r\nContent-Length: 7\r\n\r\n2\r\nok\r\n"],
        body=b"2\r\nok\r\n",
    ),
    Case("H15-OBS-FOLD", [OK + b"X: a\r\n  b\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"),
    Case(
        "H16-NON-ASCII-HEADER",
        [OK + b"X: \xff\xc3\xa9\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
        kept=True,
    ),
    Case(
        "H17-FLOOD-OF-100-CONTINUE",
        [Endless(b"HTTP/1.1 100 Continue\r\n\r\n" * 10)],
        BROKEN,
        detail="too many 1xx",
    ),
    Case(
        "H17-FLOOD-slow", [Endless(b"HTTP/1.1 100 C\r\n\r\n", 0.01)], BROKEN, detail="too many 1xx"
    ),
    Case(
        "H18-EARLY-HINTS-THEN-200",
        [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", Pause(0.02), TEN],
        body=b"0123456789",
        kept=True,
    ),
    Case(
        "H18-EARLY-HINTS-then-odd-200",
        [b"HTTP/1.1 103 E\r\nLink: </a>\r\n\r\n" + OK + b"odd\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
    ),
    Case(
        "H19-UNASKED-101",
        [b"HTTP/1.1 101 S\r\nUpgrade: ws\r\nConnection: Upgrade\r\n\r\nxx", End.HOLD],
        BROKEN,
        detail="switched protocols",
    ),
    Case("H19-UNASKED-101-bare", [b"HTTP/1.1 101 S\r\n\r\n", End.HOLD], BROKEN, detail="switched"),
    Case(
        "H19-upgrade-offered-with-200",
        [OK + b"Upgrade: h2,h2c\r\nConnection: Upgrade, Keep-Alive\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
        kept=True,
    ),
    Case(
        "H20-SET-COOKIE-BOMB",
        [OK + (b"Set-Cookie: " + b"c" * 4000 + b"\r\n") * 100 + b"\r\n", End.HOLD],
        BROKEN,
        detail="headers too large",
    ),
    Case(
        "F01-CL-TOO-BIG-THEN-CLOSE",
        [OK + b"Content-Length: 100\r\n\r\nshort", End.CLOSE],
        BROKEN,
        detail="100 bytes, after 5 bytes",
    ),
    Case("F02-CL-TOO-SMALL", [TEN + b"and more of it", End.HOLD], body=b"0123456789"),
    Case(
        "F03-TWO-DIFFERENT-CL",
        [OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!", End.CLOSE],
        BROKEN,
        detail="conflicting Content-Length",
    ),
    Case(
        "F03-TWO-EQUAL-CL",
        [OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
    ),
    Case("F04-NEGATIVE-CL", [OK + b"Content-Length: -1\r\n\r\nx", End.CLOSE], BROKEN),
    Case("F05-CL-LETTERS", [OK + b"Content-Length: ten\r\n\r\nx", End.CLOSE], BROKEN),
    Case(
        "F05-CL-overflow", [OK + b"Content-Length: " + b"9" * 30 + b"\r\n\r\nx", End.CLOSE], BROKEN
    ),
    Case(
        "F06-CL-TEN-TERABYTE",
        [OK + b"Content-Length: 10995116277760\r\n\r\n", Endless(b"x" * 10_000)],
        body=b"x" * BODY_LIMIT,
        truncated=True,
        sent_below=8 * MIB,
    ),
    Case(
        "F07-ENDLESS-BODY-NO-CL",
        [OK + b"\r\n", Endless(b"x" * 10_000)],
        body=b"x" * BODY_LIMIT,
        truncated=True,
        sent_below=8 * MIB,
    ),
    Case(
        "F08-TE-AND-CL",
        [OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"],
        body=b"ok",
    ),
    Case(
        "F08-CL-AFTER-TE",
        [OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n2\r\nok\r\n0\r\n\r\n"],
        body=b"ok",
    ),
    Case(
        "F08-identity-and-CL",
        [OK + b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
    ),
    Case("F09-BAD-CHUNK-SIZE", [CHUNKED + b"zz\r\nok\r\n0\r\n\r\n", End.HOLD], BROKEN),
    Case("F10-CHUNK-SIZE-OVERFLOW", [CHUNKED + b"f" * 17 + b"\r\nok", End.HOLD], BROKEN),
    Case("F11-CLOSED-MID-CHUNK", [CHUNKED + b"a\r\nok", End.CLOSE], BROKEN, detail="after 2 bytes"),
    Case("F12-NO-LAST-CHUNK", [CHUNKED + b"2\r\nok\r\n", End.CLOSE], BROKEN, detail="chunks"),
    Case("F12-NO-LAST-CRLF", [CHUNKED + b"2\r\nok\r\n0\r\n", End.CLOSE], BROKEN),
    Case(
        "F13-ENDLESS-TINY-CHUNKS",
        [CHUNKED, Endless(b"1\r\nx\r\n" * 1000)],
        body=b"x" * BODY_LIMIT,
        truncated=True,
    ),
    Case(
        "F14-ENDLESS-CHUNK-EXTENSION",
        [CHUNKED + b"2;x=", Endless(b"x" * 10_000)],
        BROKEN,
        detail="extensions or trailers too large",
        sent_below=8 * MIB,
    ),
    Case(
        "F14-LONG-EXTENSION-PER-BYTE",
        [CHUNKED, Endless(b"1;" + b"x" * 500 + b"\r\nx\r\n")],
        BROKEN,
        detail="extensions or trailers too large",
        sent_below=8 * MIB,
    ),
    Case(
        "F15-TRAILER-BOMB",
        [CHUNKED + b"2\r\nok\r\n0\r\n", Endless(b"X-T: " + b"x" * 1000 + b"\r\n")],
        BROKEN,
        detail="extensions or trailers too large",
        sent_below=8 * MIB,
    ),
    Case("F15-trailer", [CHUNKED + b"2;a=b\r\nok\r\n0\r\nX-T: 1\r\n\r\n"], body=b"ok", kept=True),
    Case(
        "F16-CHUNKED-NOT-LAST",
        [OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n", End.CLOSE],
        BROKEN,
        detail="transfer coding",
    ),
    Case(
        "F16-gzip-as-transfer-coding",
        [OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", End.HOLD],
        BROKEN,
        detail="transfer coding",
    ),
    Case(
        "F17-204-WITH-BODY",
        [b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", End.HOLD],
        status=204,
    ),
    Case(
        "F18-UNASKED-206",
        [b"HTTP/1.1 206 P\r\nContent-Length: 2\r\n\r\nok"],
        body=b"ok",
        status=206,
        truncated=True,
        kept=True,
    ),
    Case(
        "F19-UNASKED-304",
        [b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"],
        status=304,
        kept=True,
    ),
    Case("plain", [TEN], body=b"0123456789", kept=True),
    Case("chunked", [CHUNKED + b"2\r\nok\r\n1\r\n!\r\n0\r\n\r\n"], body=b"ok!", kept=True),
    Case("chunk-size-with-spaces", [CHUNKED + b"2  \r\nok\r\n0\r\n\r\n"], body=b"ok", kept=True),
    Case("to-eof", [OK + b"\r\nall of it", End.CLOSE], body=b"all of it"),
    Case("to-eof-empty", [OK + b"\r\n", End.CLOSE], body=b""),
    Case("http-1.0", [b"HTTP/1.0 200 OK\r\n\r\nold", End.CLOSE], body=b"old"),
    Case(
        "http-1.0-with-length",
        [b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"],
        body=b"old",
    ),
    Case(
        "http-1.0-keep-alive",
        [b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nold"],
        body=b"old",
        kept=True,
    ),
    Case(
        "connection-close", [OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok"], body=b"ok"
    ),
    Case(
        "exactly-the-limit",
        [OK + b"Content-Length: %d\r\n\r\n" % BODY_LIMIT + b"x" * BODY_LIMIT],
        body=b"x" * BODY_LIMIT,
        kept=True,
    ),
    Case(
        "one-over-the-limit",
        [OK + b"Content-Length: %d\r\n\r\n" % (BODY_LIMIT + 1) + b"x" * (BODY_LIMIT + 1), End.HOLD],
        body=b"x" * BODY_LIMIT,
        truncated=True,
    ),
    Case(
        "one-byte-at-a-time",
        [*(TEN[i : i + 1] for i in range(len(TEN)))],
        body=b"0123456789",
        kept=True,
    ),
    Case(
        "closed-inside-the-head", [OK + b"Content-Le", End.CLOSE], BROKEN, detail="inside the head"
    ),
    Case("odd-head-then-close", [OK + b"odd\r\nContent-Le", End.CLOSE], BROKEN),
    Case("interim-then-close", [b"HTTP/1.1 100 C\r\n\r\n", End.CLOSE], BROKEN),
]


# Production runs on uvloop; asyncio's own loop differs in how it reports ends and errors.
LOOPS = pytest.mark.parametrize(
    "new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)
NewLoop = Callable[[], asyncio.AbstractEventLoop]


@LOOPS
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_server_behaviour(case: Case, new_loop: NewLoop) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_behave(case))


async def _behave(case: Case) -> None:
    clock = SystemClock()
    async with serving(case.script) as server, transport_to(server.port) as transport:
        channel = transport.open("http://site.example")
        begun_at = clock.now()
        fetched = await channel.get(
            "http://site.example/",
            deadline_at=begun_at + DEADLINE_S,
            start_by_at=begun_at + DEADLINE_S,
            body_limit=BODY_LIMIT,
        )
        took_s = clock.now() - begun_at
        _check(case, fetched)
        assert took_s < DEADLINE_S + SLACK_S
        assert begun_at <= fetched.started_at <= fetched.ended_at <= clock.now()
        if case.failure is LATE:
            assert took_s >= DEADLINE_S - 0.02
        channel.close()
        # However it went, the server sees the connection closed: `serving` waits for that.
        await server.all_gone()
        assert server.connections == 1
        if case.sent_below:
            assert server.sent_bytes < case.sent_below


def _check(case: Case, fetched: Fetched) -> None:
    assert fetched.failure == case.failure, fetched.detail
    assert case.detail in fetched.detail
    assert fetched.body == case.body
    assert fetched.truncated is case.truncated
    assert fetched.address == "127.0.0.1"
    if case.failure is None:
        assert fetched.status == case.status
        assert fetched.detail == ""
    else:
        assert fetched.status == 0
        assert fetched.detail


@LOOPS
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.failure is None], ids=[c.id for c in CASES if c.failure is None]
)
def test_whether_the_connection_is_used_again(case: Case, new_loop: NewLoop) -> None:
    """After `kept` responses it is; after all others a new one is opened, and never is anything of
    the first response taken for the second."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_use_again(case))


async def _use_again(case: Case) -> None:
    second: Script = [OK + b"Content-Length: 6\r\n\r\nsecond"]
    clock = SystemClock()
    async with serving(case.script, second) as server, transport_to(server.port) as transport:
        channel = transport.open("http://site.example")
        answers = []
        for path in ("/robots.txt", "/"):
            fetched = await channel.get(
                f"http://site.example{path}",
                deadline_at=clock.now() + 5,
                start_by_at=clock.now() + 5,
                body_limit=BODY_LIMIT,
            )
            answers.append(fetched)
        assert [answer.body for answer in answers] == [case.body, b"second"]
        assert answers[1].reused is case.kept
        assert server.connections == (1 if case.kept else 2)
