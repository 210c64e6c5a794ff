"""TLS contexts, and what is worth knowing of a handshake.

A crawler reads public pages and sends no secrets, so an expired or misnamed certificate must not
lose a page: by default the chain is not checked, and the facts say so. With `verify` it is, and a
failure is a failed fetch.
"""

import ssl
from typing import Final

from mannerly.fetch.contract import TlsFacts

# OpenSSL 3 refuses servers without secure renegotiation (RFC 5746). Python names this option only
# from 3.12 on. The attack needs a client that sends secrets or renegotiates; this one does neither.
_OP_LEGACY_SERVER_CONNECT: Final = 0x4
# Level 2, the default of most systems, refuses 1024-bit RSA keys and SHA-1 signatures, which old
# but public servers still have.
_CIPHERS: Final = "DEFAULT:@SECLEVEL=1"


def context(*, verify: bool) -> ssl.SSLContext:
    """One context serves all connections; making one costs milliseconds."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers(_CIPHERS)
    made.options |= _OP_LEGACY_SERVER_CONNECT
    made.set_alpn_protocols(["http/1.1"])
    if verify:
        made.load_default_certs()
    else:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def facts(connected: ssl.SSLObject, *, verified: bool) -> TlsFacts:
    cipher = connected.cipher()
    return TlsFacts(
        version=connected.version() or "",
        cipher=cipher[0] if cipher else "",
        verified=verified,
        problem="" if verified else "not checked",
    )


def server_name(host: str) -> str:
    """The name to send (SNI) and to verify: without the final dot (RFC 6066), IPv6 unbracketed.

    Raises `ValueError` for a name that the handshake could not carry. Left to the library, that
    would come to light after connecting, and the socket would be lost.
    """
    name = host.removesuffix(".").strip("[]")
    if not all(0 < len(label) < 64 for label in name.split(".")):
        raise ValueError(f"not a name that TLS could carry: {name[:80]!r}")
    return name
