"""Who may see and do what. Pure decisions.

- Whoever steers the crawl has the token of the run, which only the terminal shows.
- A page of another site that runs in the same browser may do nothing, and see nothing: requests
  that a browser says come from elsewhere are refused, and so is every name but this machine's own,
  since a name of somebody else's that leads here (DNS rebinding) would make that page one of ours.
- Where others can reach the address, the token is asked for everything.
"""

import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass
from http import HTTPStatus

from mannerly.dashboard.http import Answer, Request, plain

LEAST_TOKEN = 16
_OWN_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

HEADERS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)


def new_token() -> str:
    return secrets.token_urlsafe(16)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def content_policy(nonce: str) -> str:
    """What the page may load: itself."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@dataclass(frozen=True, slots=True)
class Guard:
    token: str
    open_to_all: bool
    """Listens where other machines can reach it."""

    def refusal(self, request: Request) -> Answer | None:
        """What to answer instead, if the request may not even be looked at."""
        if not self._comes_from_us(request):
            return plain(HTTPStatus.FORBIDDEN, "not from another site")
        if not self.open_to_all and not self._own_name(request.headers.get("host", "")):
            return plain(HTTPStatus.MISDIRECTED_REQUEST, "this is not the name of this server")
        if (self.open_to_all or request.method != "GET") and not self.has_token(request):
            return _token_needed()
        return None

    def has_token(self, request: Request) -> bool:
        """In the header, or, for the page itself and for those who scrape, in the address."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            given = request.query.get("token", "") if request.method == "GET" else ""
        return hmac.compare_digest(given.strip().encode(), self.token.encode())

    @staticmethod
    def _own_name(host: str) -> bool:
        return re.sub(r":[0-9]+$", "", host.lower()) in _OWN_NAMES

    @staticmethod
    def _comes_from_us(request: Request) -> bool:
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site not in {"same-origin", "none"}:
            # A link to the page may be followed from anywhere; what it shows stays its own.
            opened = request.headers.get("sec-fetch-mode") == "navigate" and request.path == "/"
            return opened and request.method == "GET"
        origin = request.headers.get("origin")
        return (
            origin is None or origin.lower() == f"http://{request.headers.get('host', '')}".lower()
        )


def _token_needed() -> Answer:
    answer = plain(HTTPStatus.UNAUTHORIZED, "the token of this run is needed: see the terminal")
    return Answer(
        answer.status, answer.content_type, answer.body, (("WWW-Authenticate", "Bearer"),)
    )
