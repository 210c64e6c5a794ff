"""The canonical form of a URL, its hash and its parts.

Canonical means: parsed and serialised by the WHATWG rules (Ada, in C++), then

- http and https only, without credentials and fragment (no server ever sees a fragment);
- no default port (the serialiser's doing);
- no trailing dot on the host: `example.org.` is the same name, and a second copy of a site under
  it would have a clock of its own;
- no empty query: `/a?` and `/a` differ for the standard, but for no server worth a second visit;
- without the tracking parameters and session ids that the crawl's `ParameterRules` name;
- a host that DNS could hold: no empty label, labels up to 63 and the whole up to 253 characters;
- at most `max_length` characters.

Path and query are otherwise left as they are: sorting parameters or unescaping more than the
standard does would merge URLs that servers tell apart. The form is ASCII, and a fixed point:
`canonical(canonical(x)) == canonical(x)`.
"""

import re

import can_ada
from xxhash import xxh3_64_intdigest

from mannerly.errors import UrlError
from mannerly.url.parameters import ParameterRules

MAX_URL_LENGTH = 2048

_MAX_HOST = 253
_MAX_LABEL = 63
MAX_SLACK = 4
"""Input may be this many times the limit (dot segments, tabs, credentials) before it is refused
unread, so that a two-megabyte attribute costs nothing."""

_HALF = 1 << 63
_WHOLE = 1 << 64
_AUTHORITY = len("https://")
"""Where the search for the first slash after the authority may start: no host is empty, so this
is right for `http://` too."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_PUNYCODE = re.compile("xn--", re.IGNORECASE)


def canonical(
    text: str,
    base: str | None = None,
    *,
    max_length: int = MAX_URL_LENGTH,
    parameters: ParameterRules | None = None,
) -> str:
    """The canonical form of `text`, relative to `base`. Raises `UrlError`, nothing else.

    `parameters` says what is removed; by default nothing. Everything that goes to the frontier of a
    crawl is made with the same rules.
    """
    if len(text) > max_length * MAX_SLACK:
        raise UrlError(f"longer than {max_length * MAX_SLACK} characters")
    url = trimmed(serialised(text, base))
    if parameters is not None:
        url = parameters.strip(url)
    if len(url) > max_length:
        raise UrlError(f"longer than {max_length} characters")
    return url


def serialised(text: str, base: str | None = None) -> str:
    """`text`, joined to `base`, as the WHATWG URL standard serialises it; any scheme.

    Raises only `UrlError`.
    """
    try:
        parsed = can_ada.parse(text) if base is None else can_ada.parse(base) + text
        return str(parsed.href)
    except TypeError:
        # A lone surrogate: the library takes only what UTF-8 can hold. Do as browsers do.
        return serialised(_whole(text), base if base is None else _whole(base))
    except ValueError:
        return _serialised_unchecked(_whole(text), base)


def _whole(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _serialised_unchecked(text: str, base: str | None) -> str:
    """The standard lets an all-ASCII host pass without looking into its `xn--` labels; the Ada
    that is packaged for Python still does, and refuses names newer than its Unicode tables.

    So those labels are made to look like others, and changed back once the rest is parsed. A host
    that is not all ASCII has an `xn--` label of its own making by then, and stays refused.
    """
    given = f"{base or ''} {text}".lower()
    if "xn--" not in given:
        raise UrlError("not a URL")
    count = 0
    while (mark := f"xn{count}--") in given:
        count += 1
    swap = f"{mark[2:-2]}--"
    try:
        parsed = can_ada.parse(
            _PUNYCODE.sub(lambda m: m[0][:2] + swap, text if base is None else base)
        )
        if base is not None:
            parsed += _PUNYCODE.sub(lambda m: m[0][:2] + swap, text)
    except ValueError as exc:
        raise UrlError("not a URL") from exc
    if "xn--" in parsed.hostname:
        raise UrlError("not a URL")
    return re.sub(re.escape(mark), lambda m: m[0][:2] + "--", parsed.href, flags=re.IGNORECASE)


def trimmed(href: str) -> str:
    """What is left to do once the standard has had its say, parameters and length apart."""
    if not href.startswith(("http://", "https://")):
        raise UrlError("neither http nor https")
    href = href.partition("#")[0]
    if href[-1] == "?" and href.index("?") == len(href) - 1:
        href = href[:-1]
    scheme, _, rest = href.partition("://")
    authority, slash, path = rest.partition("/")
    host_and_port = authority.rpartition("@")[2]
    host, colon, port = host_and_port.rpartition(":")
    if not colon or port.endswith("]"):
        host, colon, port = host_and_port, "", ""
    host = host.removesuffix(".")
    _check_host(host)
    return f"{scheme}://{host}{colon}{port}{slash}{path}"


def _check_host(host: str) -> None:
    if not host or host[0] == "." or host[-1] == "." or ".." in host:
        raise UrlError("the host has an empty label")
    if len(host) > _MAX_LABEL and (
        len(host) > _MAX_HOST or max(map(len, host.split("."))) > _MAX_LABEL
    ):
        raise UrlError("the host is longer than DNS allows")


def url_hash(url: str) -> int:
    """Signed 64-bit xxh3 of a canonical URL."""
    digest: int = xxh3_64_intdigest(url.encode())
    return digest if digest < _HALF else digest - _WHOLE


def host_of(url: str) -> str:
    """The host of a canonical URL, without port; an IPv6 address keeps its brackets."""
    host = url[url.index("//") + 2 : url.index("/", _AUTHORITY)]
    if ":" in host and not host.endswith("]"):
        host = host[: host.rindex(":")]
    return host


def origin_of(url: str) -> str:
    """`scheme://host[:port]` of a canonical URL."""
    return url[: url.index("/", _AUTHORITY)]


def path_of(url: str) -> str:
    """Path and query of a canonical URL, as robots.txt matches them; starts with a slash."""
    return url[url.index("/", _AUTHORITY) :]
