"""Responses as they stand on the wire."""

from http import HTTPStatus

from mannerly.simweb.answer import Answer, Behaviour
from mannerly.simweb.requests import Request

_CHUNK = 16_000


def encode(
    request: Request, answer: Answer, *, keep_alive: bool, wall_at: float
) -> tuple[bytes, bytes]:
    """The head and the body of a response, as they are sent."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\nServer: simweb\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in answer.headers(wall_at)]
    body = answer.content.gzipped() if request.gzip else None
    if body is not None:
        lines.append("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n")
    else:
        body = answer.content.plain()
    if answer.chunked and answer.behaviour is Behaviour.WHOLE and request.method != "HEAD":
        lines.append("Transfer-Encoding: chunked\r\n")
        body = chunked(body)
    else:
        lines.append(f"Content-Length: {len(body)}\r\n")
    if not keep_alive:
        lines.append("Connection: close\r\n")
    lines.append("\r\n")
    return "".join(lines).encode("latin-1"), b"" if request.method == "HEAD" else body


def chunked(body: bytes) -> bytes:
    """The body in chunks of a size that servers use."""
    parts = [body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK)]
    return b"".join([b"%x\r\n%b\r\n" % (len(part), part) for part in parts]) + b"0\r\n\r\n"
