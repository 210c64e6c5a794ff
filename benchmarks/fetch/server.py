"""The server of these measurements, in a process of its own: one page, plain and over TLS."""

import asyncio
import datetime as dt
import gzip
import multiprocessing
import random
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import cast

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PAGE_BYTES = 60_000
PATH = "/page"
CLOSING_PATH = "/close"
"""The same page, with `Connection: close`, for clients that open anew only where they are told."""
SLOW_PATH = "/slow"


def page() -> bytes:
    """Words with the statistics of a page: packs to about a quarter."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(6000)]
    text = " ".join(f"<a href=/{i}>{chance.choice(words)}</a>" for i in range(6000))
    return text.encode()[:PAGE_BYTES]


class Server(asyncio.Protocol):
    """Answers every request with the page; `/slow` with half a head, and then nothing."""

    answer = b""
    last_answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"GET /slow"):
            self.transport.write(self.answer[:40])
        elif data.startswith(b"GET /close"):
            self.transport.write(self.last_answer)
            self.transport.close()
        else:
            self.transport.write(self.answer)


def self_signed() -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "site.example")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    with tempfile.TemporaryDirectory() as folder:
        pem = Path(folder) / "server.pem"
        pem.write_bytes(
            certificate.public_bytes(encoding)
            + key.private_bytes(
                encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
    return context


def _serve(pipe: Pipe) -> None:
    body = gzip.compress(page(), 6)
    head = (
        b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
        b"Content-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\n"
        b"Vary: Accept-Encoding\r\nCache-Control: max-age=0\r\nX-Frame-Options: DENY\r\n"
        b"Strict-Transport-Security: max-age=31536000\r\n"
        b"Content-Length: %d\r\n" % len(body)
    )
    Server.answer = head + b"\r\n" + body
    Server.last_answer = head + b"Connection: close\r\n\r\n" + body

    async def main() -> None:
        loop = asyncio.get_running_loop()
        plain = await loop.create_server(Server, "127.0.0.1", 0, backlog=4096)
        secure = await loop.create_server(Server, "127.0.0.1", 0, backlog=4096, ssl=self_signed())
        pipe.send([server.sockets[0].getsockname()[1] for server in (plain, secure)])
        await asyncio.Event().wait()

    uvloop.run(main())


@contextmanager
def serving() -> Iterator[dict[str, int]]:
    """The ports by scheme."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    try:
        yield dict(zip(("http", "https"), ours.recv(), strict=True))
    finally:
        server.terminate()
