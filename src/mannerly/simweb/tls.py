"""TLS for the server: a certificate made at start, and a layer that a connection puts on itself.

The layer works on memory buffers, so a connection can look at its first byte and then decide
whether it speaks TLS: plain HTTP and HTTPS share one port, without a task or a second socket per
connection (accepting, peeking and `connect_accepted_socket` would cost both).
"""

import datetime as dt
import ssl
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HANDSHAKE = 0x16
"""The first byte of a connection that speaks TLS."""
_READ = 1 << 16


def server_context(speaks_tls: Callable[[str], bool]) -> ssl.SSLContext:
    """A context with a fresh self-signed certificate. Names that do not speak TLS are refused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = 0  # nobody resumes, so nobody needs them
    with tempfile.NamedTemporaryFile() as file:  # the ssl module reads certificates from files only
        file.write(_certificate())
        file.flush()
        context.load_cert_chain(Path(file.name))

    def named(_tls: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        refused = name is not None and not speaks_tls(name)
        return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME if refused else None

    context.sni_callback = named
    return context


def _certificate() -> bytes:
    """A key (P-256: the cheapest to sign with) and a certificate for it, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "simweb.test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=365))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("simweb.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)


class TlsLayer:
    """One side of a TLS connection, between bytes on the wire and bytes in the clear."""

    def __init__(self, context: ssl.SSLContext, send: Callable[[bytes], None]) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._send = send
        self._shaken = False
        self.ended = False
        """The other side has said goodbye."""

    def receive(self, data: bytes) -> bytes:
        """Take bytes from the wire, give what they say; `ssl.SSLError` if they are bad."""
        self._incoming.write(data)
        clear = []
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken = True
            while part := self._tls.read(_READ):
                clear.append(part)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        finally:
            # Alerts have to reach the other side too.
            if self._outgoing.pending:
                self._send(self._outgoing.read())
        return b"".join(clear)

    def seal(self, data: bytes) -> bytes:
        """What to put on the wire in order to say `data`."""
        self._tls.write(data)
        return self._outgoing.read()

    def goodbye(self) -> bytes:
        """What to put on the wire before closing in good order."""
        with suppress(ssl.SSLError):  # it also wants to read the other side's, which need not come
            self._tls.unwrap()
        return self._outgoing.read()
