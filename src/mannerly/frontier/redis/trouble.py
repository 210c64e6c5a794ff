"""redis-py's errors in our words: translated once, here, with what to do next.

No message carries more of the server's URL than where it is: passwords stay where they were.
"""

from redis import exceptions

from mannerly.errors import FrontierError, FrontierMisuseError, MannerlyError

MISUSE = "MISUSE "
"""How a function's own refusal begins."""

NO_FUNCTION = "Function not found"

_SAID_IN_FUNCTIONS = {
    "access a non local key": "MOVING",
    "during rehashing of the slot": "MOVING",
    "access a slot not served": "CLUSTERDOWN",
    "while the cluster is down": "CLUSTERDOWN",
}
"""What a function is told that begins while keys that it needs are on another node, or nowhere. It
has no code of its own; the second and the third are Valkey's."""

_ELSEWHERE = (
    exceptions.ReadOnlyError,
    exceptions.MovedError,
    exceptions.AskError,
    exceptions.TryAgainError,
    exceptions.ClusterDownError,
)

_ADVICE = (
    (
        "LOADING",
        "the server still loads its data; the crawl goes on when it is done",
    ),
    (
        "READONLY",
        "the server is a replica and takes no writes; name the master, or wait until this one is "
        "promoted",
    ),
    ("MASTERDOWN", "the server is a replica that has lost its master; name the master"),
    (
        "OOM",
        "the server has no memory left (maxmemory); give it more, the crawl goes on from where it "
        "is",
    ),
    ("MISCONF", "the server cannot write to its disk; free some space or mend it, see its log"),
    (
        "BUSY",
        "the server is busy with a long script of somebody else's; wait or end it",
    ),
    (
        "MOVED",
        "a part of the crawl has moved to another node of the Cluster; it is looked for there",
    ),
    (
        "MOVING",
        "the Cluster is moving a part of the crawl to another node; the crawl goes on when it is "
        "there",
    ),
    (
        "CLUSTERDOWN",
        "the Cluster has no master for a part of the crawl; it goes on when a replica is promoted",
    ),
    ("NOAUTH", "the server wants a password; give it in REDISCLI_AUTH or in the URL"),
    ("WRONGPASS", "the server refused the user or the password; check the URL and REDISCLI_AUTH"),
    ("NOPERM", "the user may not do this; grant it what docs/redis.md says"),
    ("WRONGTYPE", "keys of the crawl hold something else; name another --db-schema"),
    ("max number of clients", "the server has no connection left; raise maxclients"),
)
"""What the server's answer begins with (or holds), and what to do."""


def is_elsewhere(exc: Exception) -> bool:
    """The server has not, or no longer, or not yet the whole crawl, or not our functions."""
    said = str(exc)
    return (
        isinstance(exc, _ELSEWHERE)
        or NO_FUNCTION in said
        or any(words in said for words in _SAID_IN_FUNCTIONS)
    )


def in_our_words(where: str, exc: Exception) -> MannerlyError:
    """What a caller is told. `where`: the server, without its password."""
    said = str(exc).strip().partition("\n")[0]
    if said.startswith(MISUSE):
        return FrontierMisuseError(said.removeprefix(MISUSE))
    kinds = (kind for words, kind in _SAID_IN_FUNCTIONS.items() if words in said)
    kind = next(kinds, _KINDS.get(type(exc), ""))
    for word, advice in _ADVICE:
        if word == kind or said.startswith(word) or (word[0].islower() and word in said):
            return FrontierError(f"{where}: {advice}")
    if isinstance(exc, exceptions.ResponseError):
        return FrontierError(f"{where}: Redis says {said}")
    return FrontierError(
        f"{where}: the server cannot be reached or closed the connection ({said}); check that it "
        "runs, the crawl goes on when it answers"
    )


_KINDS: dict[type[Exception], str] = {
    exceptions.BusyLoadingError: "LOADING",
    exceptions.ReadOnlyError: "READONLY",
    exceptions.MasterDownError: "MASTERDOWN",
    exceptions.MovedError: "MOVED",
    exceptions.AskError: "MOVING",
    exceptions.TryAgainError: "MOVING",
    exceptions.ClusterDownError: "CLUSTERDOWN",
    exceptions.OutOfMemoryError: "OOM",
    exceptions.NoPermissionError: "NOPERM",
    exceptions.AuthenticationError: "WRONGPASS",
    exceptions.AuthenticationWrongNumberOfArgsError: "WRONGPASS",
}
"""redis-py takes the first word of some answers for the kind of exception."""
