"""An exchange as the archive gets it: everything that was read from the wire, and what we know
beyond it. No I/O."""

from mannerly.fetch.contract import Fetched
from mannerly.records import Exchange

_PARTIAL = 206


def exchange_of(
    fetched: Fetched, token: int, fetched_at: float, about: tuple[tuple[str, str], ...]
) -> Exchange:
    """What `fetched` is to the archive. `about` is what only the caller knows."""
    tls = fetched.tls
    facts = [
        ("fetchTimeMs", _ms(fetched.ended_at - fetched.started_at)),
        ("firstByteMs", _ms(fetched.first_byte_s)),
        ("connectMs", _ms(fetched.connect_s)),
        ("dnsMs", _ms(fetched.dns_s)),
    ]
    if tls is not None:
        facts += [
            ("tls", f"{tls.version} {tls.cipher}"),
            ("certificate", "verified" if tls.verified else tls.problem),
        ]
    return Exchange(
        token=token,
        url=fetched.url,
        fetched_at=fetched_at,
        address=fetched.address,
        request=fetched.request,
        http_version=fetched.http_version,
        status=fetched.status,
        reason=fetched.reason,
        headers=fetched.headers,
        body=fetched.body,
        truncated=fetched.truncated and not _is_whole_part(fetched),
        facts=(*about, *facts),
    )


def _is_whole_part(fetched: Fetched) -> bool:
    """The server sent a part though all was asked for: the page is cut, the exchange is whole."""
    told = fetched.header(b"content-length")
    return fetched.status == _PARTIAL and (not told.isdecimal() or int(told) <= len(fetched.body))


def _ms(duration_s: float) -> str:
    return f"{1e3 * duration_s:.0f}" if duration_s > 0 else ""
