"""robots.txt by RFC 9309: what it says about one path, and which line says so.

Written here, because no library tells the deciding line ("why was this not crawled?"), and because
rules are kept for many thousands of sites: only those that apply to us, in a few flat objects.

How unclear things are read, as Google's parser reads them unless that would be less polite:

- groups that name us are one group; only without any such group the `*` groups apply;
- the longest pattern wins, `Allow` wins a tie; `/robots.txt` itself is always allowed;
- only the first 500 KiB count, without the line that the limit cuts;
- common misspellings of `Disallow` and `User-agent` count, and so does a blank for the colon;
- percent-encoding is made equal on both sides, octet by octet, whatever charset the file is in.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mannerly.quick import quick

ROBOTS_LIMIT = 500 * 1024
"""Bytes of a robots.txt that are read; RFC 9309 asks for at least this much."""

_MAX_LINE = 8 * 2083 - 1
"""Bytes of a line that are read, as in Google's parser."""
_MAX_SITEMAPS = 1_000
_BOM = re.compile(rb"\A\xef(?:\xbb\xbf?)?")
"""Of UTF-8; Google's parser skips one that was cut off, too."""
_TOKEN = re.compile(rb"[^\s/*,;()]+")
"""A product token is letters, `-` and `_` for the RFC; Google's parser stops at anything else, so
that nobody could ever address `bot9000`. A token here ends where a version or a comment begins."""
_AGENT_KEYS = (b"user-agent", b"useragent", b"user agent")
_DISALLOW_KEYS = (
    b"disallow",
    b"dissallow",
    b"dissalow",
    b"disalow",
    b"diasllow",
    b"disallaw",
)
_SITEMAP_KEYS = (b"sitemap", b"site-map")
_DELAY_KEYS = (b"crawl-delay", b"crawldelay", b"crawl delay")

_SAFE = "A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-"
_UNSAFE = re.compile(f"[^{_SAFE}]")
_ESCAPABLE = re.compile(f"%[0-9A-Fa-f]{{2}}|[^{_SAFE}]")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


@quick
class Verdict(NamedTuple):
    """Whether a path may be fetched, and why."""

    allowed: bool
    line: int
    """Of the deciding rule, from 1; 0 if no rule decided."""
    rule: str
    """The deciding rule (its pattern with percent-encoding made regular), '' if none."""


class _Wild(NamedTuple):
    """A pattern with `*` or a closing `$`: literals that must follow each other."""

    length: int
    allow: bool
    line: int
    literals: tuple[str, ...]
    anchored: bool
    pattern: str


class RobotsRules:
    """The rules of one robots.txt that apply to one agent. Immutable.

    Asking costs a look-up per distinct length of a pattern, not a test per pattern; a pattern with
    wildcards is only looked at when the path begins as it does and contains its longest literal.
    No pattern takes more than one pass over the path.
    """

    __slots__ = ("_lengths", "_plain", "_wild", "_wild_lengths", "crawl_delay", "sitemaps")

    crawl_delay: float | None
    """The largest `Crawl-delay` of our group in seconds; None if there is none."""
    sitemaps: tuple[str, ...]
    """Absolute URLs as written, of the whole file, distinct."""

    def __init__(
        self,
        rules: list[tuple[str, bool, int]],
        crawl_delay: float | None,
        sitemaps: tuple[str, ...],
    ) -> None:
        """`rules`: normalised pattern, allow, line."""
        self.crawl_delay = crawl_delay
        self.sitemaps = sitemaps
        # A line number below zero is that of a Disallow: an int per rule instead of a tuple.
        self._plain: dict[str, int] = {}
        wild: dict[str, list[_Wild]] = {}
        for pattern, allow, line in rules:
            if "*" in pattern or pattern[-1] == "$":
                rule = _wild(pattern, allow, line)
                wild.setdefault(rule.literals[0], []).append(rule)
            elif allow:
                if self._plain.get(pattern, -1) < 0:
                    self._plain[pattern] = line
            else:
                self._plain.setdefault(pattern, -line)
        self._wild = {
            head: tuple(
                (max(rule.literals[1:], key=len, default=""), rule)
                for rule in sorted(
                    found, key=lambda rule: (-rule.length, not rule.allow, rule.line)
                )
            )
            for head, found in wild.items()
        }
        self._lengths = tuple(sorted(set(map(len, self._plain)), reverse=True))
        self._wild_lengths = tuple(sorted(set(map(len, self._wild))))

    def verdict(self, path: str) -> Verdict:
        """May `path` (path and query of a URL, with its leading slash) be fetched?"""
        if path.partition("?")[0] == "/robots.txt":
            return Verdict(allowed=True, line=0, rule="")
        path = normalised(path).replace("*", "%2A").replace("$", "%24") or "/"
        best = -1
        allowed = True
        line = 0
        rule = ""
        plain = self._plain
        for length in self._lengths:
            signed = plain.get(path[:length])
            if signed is not None and length <= len(path):
                best, allowed, line, rule = length, signed > 0, abs(signed), path[:length]
                break
        for length in self._wild_lengths:
            bucket = self._wild.get(path[:length], ())
            for wild in [rule for literal, rule in bucket if literal in path]:
                if wild.length < best or (wild.length == best and allowed >= wild.allow):
                    break
                if _matches(wild, path):
                    best, allowed, line, rule = wild.length, wild.allow, wild.line, wild.pattern
                    break
        if not line:
            return Verdict(allowed=True, line=0, rule="")
        return Verdict(allowed, line, f"{'Allow' if allowed else 'Disallow'}: {rule}")

    @property
    def cost_bytes(self) -> int:
        """About how much memory this takes, for caches that are bounded by bytes."""
        plain = sum(map(len, self._plain)) + 190 * len(self._plain)
        wild = sum(
            650 + 3 * len(rule.pattern) for bucket in self._wild.values() for _, rule in bucket
        )
        return 600 + plain + wild + sum(80 + len(url) for url in self.sitemaps)


def parse_robots(body: bytes, agent: str) -> RobotsRules:
    """The rules of `body` for the product token `agent`. Never raises, whatever the bytes are.

    An agent without a product token (`*`, empty) gets the `*` groups.
    """
    wanted = _token(agent.encode("utf-8", "replace"))
    ours = _Groups()
    everyones = _Groups()
    sitemaps: dict[str, None] = {}
    current: set[_Groups] = set()
    in_rules = False
    for number, key, value in _records(body):
        if key.startswith(_AGENT_KEYS):
            if in_rules:
                current.clear()
                in_rules = False
            if value[:1] == b"*" and not value[1:2].strip():
                current.add(everyones)
                everyones.seen = True
            elif wanted and _token(value) == wanted:
                current.add(ours)
                ours.seen = True
        elif (allow := key.startswith(b"allow")) or key.startswith(_DISALLOW_KEYS):
            in_rules = True
            # A path pattern begins with a slash or a wildcard; others can never match.
            if current and value[:1] in (b"/", b"*"):
                pattern = _pattern(value)
                for groups in current:
                    groups.add(pattern, allow, number)
        elif key.startswith(_SITEMAP_KEYS):
            url = value.decode("utf-8", "replace")
            if url[:8].lower().startswith(("http://", "https://")) and (
                len(sitemaps) < _MAX_SITEMAPS
            ):
                sitemaps[url] = None
        elif key.startswith(_DELAY_KEYS):
            # Belongs to the group like a rule. For Google's parser it is an unknown key, which does
            # not end the list of agents; that would give the next group's rules to everybody.
            in_rules = True
            for groups in current:
                groups.slow_to(value)
    chosen = ours if ours.seen else everyones
    return RobotsRules(chosen.rules, chosen.crawl_delay, tuple(sitemaps))


class _Groups:
    """What all groups of one agent say together."""

    def __init__(self) -> None:
        self.seen = False
        self.rules: list[tuple[str, bool, int]] = []
        self.crawl_delay: float | None = None

    def add(self, pattern: str, allow: bool, line: int) -> None:
        self.rules.append((pattern, allow, line))
        directory, slash, name = pattern.rpartition("/")
        if allow and name.startswith("index.htm"):
            # Who allows the index page of a directory means the directory's own URL as well.
            self.rules.append((f"{directory}{slash}$", allow, line))

    def slow_to(self, value: bytes) -> None:
        try:
            delay_s = float(value)
        except ValueError:
            return
        if 0 <= delay_s < float("inf"):
            self.crawl_delay = max(delay_s, self.crawl_delay or 0.0)


def _records(body: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Line number, lower-case key and value of each line that has them."""
    lines = _BOM.sub(b"", body[: ROBOTS_LIMIT + 1], count=1).splitlines()
    if len(body) > ROBOTS_LIMIT and lines:
        lines.pop()
    for number, line in enumerate(lines, 1):
        text = line[:_MAX_LINE].partition(b"#")[0].strip()
        key, colon, value = text.partition(b":")
        if not colon:
            words = text.split()
            if len(words) != 2:
                continue
            key, value = words
        yield number, key.strip().lower(), value.strip()


def _token(agent: bytes) -> bytes:
    """The product token at the beginning of a user agent, lower case."""
    token = _TOKEN.match(agent)
    return token[0].lower() if token else b""


def normalised(path: str, *, octets: bool = False) -> str:
    """One spelling for all ways to percent-encode a path or pattern (RFC 9309, 2.2.2).

    Unreserved characters are decoded, what URLs cannot hold is encoded, hexadecimal digits are
    upper case; reserved characters stay as they are, since `%2F` and `/` differ. With `octets` each
    character stands for a byte of a file in whatever charset.
    """
    if not _UNSAFE.search(path):
        return path
    encoding = "latin-1" if octets else "utf-8"

    def regular(match: re.Match[str]) -> str:
        text = match[0]
        if len(text) == 3:
            character = chr(int(text[1:], 16))
            return character if _UNRESERVED.match(character) else text.upper()
        if text == "%":
            return text
        return "".join(f"%{octet:02X}" for octet in text.encode(encoding, "replace"))

    return _ESCAPABLE.sub(regular, path)


def _pattern(value: bytes) -> str:
    """A rule's pattern, normalised. `*`, and `$` at the end, are special; who means the characters
    writes `%2A` and `%24` (RFC 9309, 2.2.3), so that is how they are spelt in paths."""
    text = normalised(value.decode("latin-1"), octets=True)
    return text[:-1].replace("$", "%24") + text[-1]


def _wild(pattern: str, allow: bool, line: int) -> _Wild:
    anchored = pattern[-1] == "$"
    literals = re.sub(r"\*+", "*", pattern[:-1] if anchored else pattern).split("*")
    return _Wild(len(pattern), allow, line, tuple(literals), anchored, pattern)


def _matches(rule: _Wild, path: str) -> bool:
    """Leftmost match of each literal in turn: if any choice fits, this one does."""
    literals = rule.literals
    at = len(literals[0])
    last = len(literals) - 1
    if last == 0:
        return len(path) == at
    for literal in literals[1:last] if rule.anchored else literals[1:]:
        at = path.find(literal, at)
        if at < 0:
            return False
        at += len(literal)
    return not rule.anchored or (
        len(path) - len(literals[last]) >= at and path.endswith(literals[last])
    )
