"""The little of HTTP that the server has to read: the head of a GET request."""

from typing import NamedTuple


class Request(NamedTuple):
    method: str
    target: str
    """Path and query."""
    host: str
    """Lower case, without a port."""
    user_agent: str
    gzip: bool
    keep_alive: bool


def parse(head: bytes) -> Request | None:
    """The request in a head without its empty line; None if it is none.

    By hand: for requests without a body this is cheaper than a parser with callbacks.
    """
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    host = user_agent = coding = connection = ""
    for line in lines:
        name, _, value = line.partition(":")
        name = name.lower()
        if name == "host":
            host = value.strip().lower().partition(":")[0]
        elif name == "user-agent":
            user_agent = value.strip()
        elif name == "accept-encoding":
            coding = value.lower()
        elif name == "connection":
            connection = value.lower()
    if not host or not words[1].startswith("/"):
        return None
    keep_alive = "close" not in connection and (
        words[2] == "HTTP/1.1" or "keep-alive" in connection
    )
    return Request(words[0], words[1], host, user_agent, "gzip" in coding, keep_alive)
