"""Reading one response: bytes in, status, headers and body out, within bounds. No I/O.

Guarantees, whatever the bytes are and however they are cut:

- a body looks complete only if its framing says so: Content-Length satisfied, last chunk seen, or
  (only where the head announces neither) the end of the connection;
- at most `header_limit` bytes of heads, 1xx included, at most `MAX_HEADERS` headers, at most
  `MAX_INTERIM` 1xx responses, `body_limit` bytes of body, and framing in proportion to the body;
- bytes after the response are never part of it, and make its connection unfit for another one.
"""

from typing import Final

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpResponseParser,
)

from mannerly.fetch.mend import BLANK_LINE, MAX_INTERIM, Header, Mended, NotMendableError, mend

MAX_HEADERS: Final = 1000
# A chunk of one byte has five bytes of framing; with room for leading zeros and short extensions.
MAX_FRAMING_PER_BYTE: Final = 8


class ResponseReader:
    """Feed it until `ended`; then `problem` is '' or says what broke."""

    __slots__ = (
        "_body_limit",
        "_early",
        "_early_bytes",
        "_framing",
        "_head_bytes",
        "_header_limit",
        "_held",
        "_idle_bytes",
        "_interim",
        "_keep_alive",
        "_mended",
        "_parser",
        "_refused",
        "_wire_bytes",
        "body",
        "ended",
        "headers",
        "http_version",
        "problem",
        "reason",
        "reusable",
        "started",
        "status",
        "truncated",
    )

    def __init__(self, *, header_limit: int, body_limit: int) -> None:
        self._header_limit = header_limit
        self._body_limit = body_limit
        self._parser: HttpResponseParser | None = self._new_parser()
        self._early: list[bytes] = []
        self._early_bytes = 0
        self._head_bytes = 0
        """Of headers and reasons, 1xx included: one read may bring more than the limit allows."""
        self._refused = ""
        """Why the parser did not take the head. It waits in `_held` to be mended."""
        self._held = bytearray()
        self._mended: Mended | None = None
        self._interim = 0
        self._framing = ""
        self._keep_alive = False
        self._wire_bytes = 0
        self._idle_bytes = 0
        self.started = False
        """A byte came."""
        self.ended = False
        self.problem = ""
        self.status = 0
        self.http_version = b"1.1"
        self.reason = b""
        self.headers: list[Header] = []
        self.body: bytes | bytearray = b""
        """As it came, if it came in one piece, as most do: then it is not copied."""
        self.truncated = False
        self.reusable = False
        """Once ended: the connection may carry another request."""

    def feed(self, data: bytes) -> bool:
        """Take bytes off the wire; True when the response has ended."""
        self.started = True
        if self.ended:
            self.reusable = False
        elif self._framing:
            self._feed_body(data)
        else:
            self._feed_head(data)
        if self.ended:
            self.drop()
        return self.ended

    def feed_eof(self) -> None:
        """The peer has closed its side in good order."""
        if self.ended:
            self.reusable = False
        elif self._framing == "close":
            self.ended = True
        elif self._framing:
            self._break(f"closed inside a body of {self._framing}, after {len(self.body)} bytes")
        elif self.started:
            self._break(self._refused or "closed inside the head")
        else:
            self._break("closed without a response")
        self.drop()

    def fail(self, problem: str) -> None:
        """The connection broke; nothing more will come."""
        if not self.ended:
            self._break(problem)
        self.reusable = False
        self.drop()

    def drop(self) -> None:
        """Let go of the parser. It and its callbacks refer to each other, and a cycle would keep
        every body in memory until the collector runs."""
        self._parser = None
        self._early = []
        self._held = bytearray()

    def _new_parser(self) -> HttpResponseParser:
        parser = HttpResponseParser(self)
        # Safe for a client that sends one request at a time: bare LF (RFC 9112 2.2), other
        # versions, spaces after a chunk size. Not Content-Length beside Transfer-Encoding, nor
        # anything about headers: see `mend`.
        parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True,
            lenient_version=True,
            lenient_spaces_after_chunk_size=True,
        )
        return parser

    # Bytes ------------------------------------------------------------------------------------

    def _feed_head(self, data: bytes) -> None:
        self._early.append(data)
        self._early_bytes += len(data)
        if not self._refused:
            refused = self._parse(data)
            if refused and self._framing:
                self._break(refused)
            elif refused:
                self._refused = refused
                self._held += b"".join(self._early)
                self._mend()
        else:
            # Only a blank line can make a difference; without this test a head that trickles in
            # would be searched from its start for every byte.
            tail = max(0, len(self._held) - 3)
            self._held += data
            if BLANK_LINE.search(self._held, tail):
                self._mend()
        if self._framing:
            self._early = []
            self._held = bytearray()
        elif not self.ended and self._early_bytes > self._header_limit:
            self._break("headers too large")

    def _feed_body(self, data: bytes) -> None:
        before = len(self.body)
        if refused := self._parse(data):
            self._break(refused)
        if self.ended or self._framing != "chunks":
            return
        self._wire_bytes += len(data)
        self._idle_bytes = 0 if len(self.body) > before else self._idle_bytes + len(data)
        allowed = self._header_limit + MAX_FRAMING_PER_BYTE * len(self.body)
        if self._idle_bytes > self._header_limit or self._wire_bytes > allowed:
            self._break("chunk extensions or trailers too large")

    def _parse(self, data: bytes) -> str:
        """Why the parser refused it; '' if it did not, or no longer matters."""
        parser = self._parser
        assert parser is not None
        try:
            parser.feed_data(data)
        except HttpParserCallbackError:
            raise
        except HttpParserError as exc:
            self.reusable = False
            return "" if self.ended else f"bad HTTP: {exc}"
        except HttpParserUpgrade:
            self._break("switched protocols unasked")
        return ""

    def _mend(self) -> None:
        try:
            mended = mend(bytes(self._held))
        except NotMendableError as exc:
            self._break(f"{self._refused} ({exc})")
            return
        if mended is None:
            return
        if len(self._held) - len(mended.rest) > self._header_limit:
            self._break("headers too large")
            return
        self._mended = mended
        self._head_bytes = 0
        self._interim = mended.interim
        self.headers = []
        self._parser = self._new_parser()
        if refused := self._parse(mended.head + mended.rest):
            self._break(refused)

    def _break(self, problem: str) -> None:
        self.problem = problem
        self.ended = True
        self.reusable = False
        self.body = b""

    # Called by the parser ---------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self.ended:
            self.reusable = False

    def on_status(self, reason: bytes) -> None:
        self._head_bytes += len(reason)
        self.reason = reason

    def on_header(self, name: bytes, value: bytes) -> None:
        # After the head these are trailers, which nobody reads.
        if not self._framing:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        parser = self._parser
        if self.ended or parser is None:
            return
        status = parser.get_status_code()
        if status < 200 or self._early_bytes > self._header_limit:
            # What came in all is within the limit nearly always, and so are the heads in it.
            self._head_bytes += sum(len(name) + len(value) + 4 for name, value in self.headers)
        if status < 200:
            self._interim += 1
            self.headers = []
            self.reason = b""
            if status < 100:
                self._break("bad status")
            elif status == 101:
                self._break("switched protocols unasked")
            elif self._interim > MAX_INTERIM:
                self._break("too many 1xx responses")
            return
        self.status = status
        self.http_version = parser.get_http_version().encode("ascii")
        self._keep_alive = parser.should_keep_alive() and self._mended is None
        self._frame()
        if self._mended is not None:
            self.headers = self._mended.headers
        if self._interim > MAX_INTERIM:
            self._break("too many 1xx responses")
        elif len(self.headers) > MAX_HEADERS or self._head_bytes > self._header_limit:
            self._break("headers too large")

    def _frame(self) -> None:
        """How the body will end, as the parser reads it."""
        self._framing = "close"
        for name, value in self.headers:
            size = len(name)
            if size == 17 and name.lower() == b"transfer-encoding":
                # gzip as a *transfer* coding was not asked for, and is nowhere removed.
                coding = value.strip().lower()
                if coding == b"chunked":
                    self._framing = "chunks"
                elif coding != b"identity":
                    self._break("unknown transfer coding")
            elif size == 14 and name.lower() == b"content-length":
                self._framing = f"{value.strip().decode('latin-1')} bytes"

    def on_body(self, piece: bytes) -> None:
        if self.ended:
            return
        room = self._body_limit - len(self.body)
        if len(piece) > room:
            piece = piece[:room]
            self.truncated = True
            self.ended = True
        if not self.body:
            self.body = piece
        else:
            if isinstance(self.body, bytes):
                self.body = bytearray(self.body)
            self.body += piece

    def on_message_complete(self) -> None:
        if not self.ended and self._framing:
            self.ended = True
            self.reusable = self._keep_alive
