"""What does a request cost? CPU of this process per request, and memory per slow connection.

    python benchmarks/fetch/cost_per_request.py [--requests 4000] [--rounds 5] [--slow 2000]

One page of 60 kB (about 16 kB as gzip) from a server in a process of its own, on the loopback, 200
tasks, uvloop. The transport alone: no DNS, no parsing; `decode` is the gunzip, for the sum. User
and system time, the best of the rounds: a shared machine only ever adds. One JSON line.
"""

import argparse
import asyncio
import datetime as dt
import gzip
import json
import multiprocessing
import os
import platform
import random
import resource
import ssl
import tempfile
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import cast

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from mannerly.clock import SystemClock
from mannerly.fetch.contract import Channel, Fetched
from mannerly.fetch.decode import decode
from mannerly.fetch.dns import Resolved
from mannerly.fetch.http import HttpTransport

TASKS = 200
PAGE_BYTES = 60_000
MODES = {  # name: (scheme, a new connection for each request)
    "plain_new": ("http", True),
    "plain_reuse": ("http", False),
    "tls_new": ("https", True),
    "tls_reuse": ("https", False),
}


def page() -> bytes:
    """Words with the statistics of a page: packs to about a quarter."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(6000)]
    text = " ".join(f"<a href=/{i}>{chance.choice(words)}</a>" for i in range(6000))
    return text.encode()[:PAGE_BYTES]


class Server(asyncio.Protocol):
    """Answers every request with the page; `/slow` with half a head, and then nothing."""

    answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        slow = data.startswith(b"GET /slow")
        self.transport.write(self.answer[:40] if slow else self.answer)


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


def serve(pipe: Pipe) -> None:
    body = gzip.compress(page(), 6)
    Server.answer = (
        b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
        b"Content-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\n"
        b"Vary: Accept-Encoding\r\nCache-Control: max-age=0\r\nX-Frame-Options: DENY\r\n"
        b"Strict-Transport-Security: max-age=31536000\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    ) + body

    async def main() -> None:
        loop = asyncio.get_running_loop()
        plain = await loop.create_server(Server, "127.0.0.1", 0, backlog=4096)
        secure = await loop.create_server(Server, "127.0.0.1", 0, backlog=4096, ssl=self_signed())
        pipe.send([server.sockets[0].getsockname()[1] for server in (plain, secure)])
        await asyncio.Event().wait()

    uvloop.run(main())


class NoResolver:
    async def resolve(self, host: str) -> Resolved:
        raise AssertionError(host)


def transport_to(port: int) -> HttpTransport:
    return HttpTransport(
        clock=SystemClock(),
        user_agent="mannerly-benchmark/1",
        contact="nobody@example.org",
        resolver=NoResolver(),
        connect_to=("127.0.0.1", port),
        connect_timeout_s=60,
    )


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def get(channel: Channel, origin: str, path: str = "/page", limit_s: float = 60) -> Fetched:
    end_at = SystemClock().now() + limit_s
    return await channel.get(
        origin + path, deadline_at=end_at, start_by_at=end_at, body_limit=1_000_000
    )


async def measure(port: int, scheme: str, *, new: bool, requests: int) -> float:
    """CPU in ms per request."""
    transport = transport_to(port)
    origin = f"{scheme}://site.example"
    channels = [transport.open(origin) for _ in range(TASKS)]
    if not new:
        await asyncio.gather(*(get(channel, origin) for channel in channels))
    left = requests

    async def work(channel: Channel) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            fetched = await get(channel, origin)
            assert fetched.failure is None, fetched.detail
            assert fetched.reused is not new
            if new:
                channel.close()
                channel = transport.open(origin)

    before = cpu_s()
    await asyncio.gather(*(work(channel) for channel in channels))
    spent = cpu_s() - before
    await transport.aclose()
    return spent / requests * 1000


async def slow_bytes(port: int, scheme: str, slow: int) -> float:
    """Resident bytes per connection that waits for the rest of a head."""
    transport = transport_to(port)
    origin = f"{scheme}://site.example"
    before = resident_bytes()
    gate = asyncio.Semaphore(TASKS)
    tasks = []
    for _ in range(slow):
        await gate.acquire()
        task = asyncio.create_task(get(transport.open(origin), origin, "/slow"))
        asyncio.get_running_loop().call_later(0.2, gate.release)
        tasks.append(task)
    await asyncio.sleep(2)
    assert transport.open_connections == slow
    used = resident_bytes() - before
    await transport.aclose()
    await asyncio.gather(*tasks)
    return used / slow


def in_process(work: str, pipe: Pipe, port: int, scheme: str, amount: int, *, new: bool) -> None:
    """Each figure in a fresh process, so that none stands on the memory of another."""
    if work == "memory":
        pipe.send(uvloop.run(slow_bytes(port, scheme, amount)))
    else:
        pipe.send(uvloop.run(measure(port, scheme, new=new, requests=amount)))


def run(work: str, port: int, scheme: str, amount: int, *, new: bool = True) -> float:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=in_process, args=(work, theirs, port, scheme, amount), kwargs={"new": new}
    )
    process.start()
    theirs.close()
    result: float = ours.recv()
    process.join()
    return result


def decode_ms(body: bytes) -> float:
    rounds = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(500):
            decode(body, "gzip", 1_000_000)
        rounds.append((time.process_time() - before) / 500 * 1000)
    return min(rounds)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=4000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--slow", type=int, default=2000)
    chosen = options.parse_args()
    multiprocessing.set_start_method("spawn")
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    ports = dict(zip(("http", "https"), ours.recv(), strict=True))
    try:
        cpu = {
            name: round(
                min(
                    run("cpu", ports[scheme], scheme, chosen.requests, new=new)
                    for _ in range(chosen.rounds)
                ),
                4,
            )
            for name, (scheme, new) in MODES.items()
        }
        memory = {
            scheme: round(run("memory", ports[scheme], scheme, chosen.slow) / 1000, 1)
            for scheme in ("http", "https")
        }
    finally:
        server.terminate()
    packed = gzip.compress(page(), 6)
    result = {
        "benchmark": "fetch/cost_per_request",
        "cpu_ms_per_request": cpu | {"decode": round(decode_ms(packed), 4)},
        "kb_per_slow_connection": memory,
        "body_bytes": len(packed),
        "requests": chosen.requests,
        "rounds": chosen.rounds,
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
