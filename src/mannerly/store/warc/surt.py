"""SURT: the form of a URL by which archives sort and look up (`org,example)/a?b`). Pure.

The rules are those of the Internet Archive's canonicaliser (the Python package `surt`, with which
this was compared), because replay software applies them to what somebody asks for: without `www`,
in lower case, escapes undone where they need not be, no double and no final slash, parameters in
order, session ids out. So distinct URLs may share a key; which URL a line of the index is about is
told in the line.
"""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

_WWW = re.compile(r"www\d*\.")
_SLASHES = re.compile(r"/{2,}")
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PATH_SESSION = re.compile(
    r"(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)|\([0-9a-z]{24}\))/([^?]+\.aspx.*)"
)
_QUERY_SESSIONS = [
    re.compile(rf"(.*)(?:{pattern})(?:&(.*))?")
    for pattern in (
        r"jsessionid=[0-9a-z]{32}",
        r"phpsessid=[0-9a-z]{32}",
        r"sid=[0-9a-z]{32}",
        r"aspsessionid[a-z]{8}=[a-z]{24}",
        r"cfid=[^&]+&cftoken=[^&]+",
    )
]


def surt(url: str) -> str:
    """The key of a canonical URL."""
    rest = url.partition("://")[2].lower()
    netloc, _, tail = rest.partition("/")
    path, _, query = tail.partition("?")
    key = f"{_authority(netloc)})/{_path(path)}"
    cleaned = _query(query) if query else ""
    return f"{key}?{cleaned}" if cleaned else key


def _authority(netloc: str) -> str:
    host, colon, port = netloc.rpartition(":")
    if not colon or not port.isdecimal():
        host, port = netloc, ""
    if host.startswith("["):
        host = host.strip("[]")
    else:
        host = ",".join(reversed(_WWW.sub("", host, count=1).strip(".").split(".")))
    return f"{host}:{port}" if port else host


def _path(path: str) -> str:
    """Without the slash before it."""
    path = _SLASHES.sub("/", f"/{_plain(path)}")
    if ".aspx" in path and (session := _PATH_SESSION.fullmatch(path)):
        path = session[1] + session[2]
    return path[1:].removesuffix("/")


def _query(query: str) -> str:
    query = _plain(query)
    for pattern in _QUERY_SESSIONS if "id=" in query or "sessionid" in query else ():
        if found := pattern.fullmatch(query):
            query = found[1] + (found[2] or "")
    return "&".join(sorted(query.split("&"), key=lambda argument: argument.split("=", 1)))


def _plain(text: str) -> str:
    """Escapes undone as often as they can be, then only what must be is escaped again."""
    if "%" not in text:
        return text
    raw = text.encode()
    while (unescaped := unquote_to_bytes(raw)) != raw:
        raw = unescaped
    return quote_from_bytes(raw, safe=_UNESCAPED).lower()
