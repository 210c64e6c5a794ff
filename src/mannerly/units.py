"""Reading what people write: durations, sizes, numbers, addresses. Each raises `ValueError`."""

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path

DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SIZE_UNITS = {
    "": 1, "b": 1,
    "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9,
    "ki": 2**10, "kib": 2**10, "mi": 2**20, "mib": 2**20, "gi": 2**30, "gib": 2**30,
}  # fmt: skip


def duration(text: str) -> float:
    """`70s`, `1h30m`, `200ms`, `2d`; a bare number is seconds."""
    text = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)", text)
    if not parts or "".join(n + u for n, u in parts) != re.sub(r"\s+", "", text):
        raise ValueError("a duration such as 70s, 1h30m or 200ms is needed")
    return sum(float(number) * DURATION_UNITS[unit] for number, unit in parts)


def some_time(text: str) -> float:
    seconds = duration(text)
    if seconds < 0.01:
        raise ValueError("a duration of at least 10ms is needed")
    return seconds


def size(text: str) -> int:
    """`2MiB`, `500kB`, `1G`; a bare number is bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?b?)", text.strip().lower())
    if not match or match[2] not in SIZE_UNITS:
        raise ValueError("a size such as 2MiB or 500kB is needed")
    return int(float(match[1]) * SIZE_UNITS[match[2]])


def some_size(text: str) -> int:
    number = size(text)
    if number < 1000:
        raise ValueError("a size of at least 1kB is needed")
    return number


HALF = -1
"""As a limit on memory: half of what the machine has."""
LEAST_MEMORY = 300 * 2**20
"""What a crawl process takes by itself, and a little to work with."""


def memory_size(text: str) -> int:
    """`LEAST_MEMORY` or more; 0 is no limit."""
    if text.strip().lower() == "half":
        return HALF
    number = size(text)
    if 0 < number < LEAST_MEMORY:
        raise ValueError("a size of at least 300MiB is needed, 'half', or 0 for no limit")
    return number


def count(text: str) -> int:
    """A whole number; `_` and `,` may group its digits."""
    digits = text.strip().replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError("a whole number is needed")
    return int(digits)


def positive(text: str) -> int:
    number = count(text)
    if number < 1:
        raise ValueError("a whole number of at least 1 is needed")
    return number


def path(text: str) -> Path:
    if not text.strip():
        raise ValueError("a path is needed")
    return Path(text).expanduser()


def string(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("a non-empty line of printable text is needed")
    return text.strip()


def email(text: str) -> str:
    text = text.strip()
    if not re.fullmatch(r"[^\s@<>(),;:\"\\]+@[A-Za-z0-9.-]+\.[A-Za-z0-9-]{2,}", text):
        raise ValueError("an address such as you@example.org is needed")
    return text


def web_address(text: str) -> str:
    text = text.strip()
    if not re.fullmatch(r"https?://[!-~]+", text) or set(text) & set('()<>;,"\\'):
        raise ValueError("an address such as https://example.org/crawler is needed")
    return text


def switch(text: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    if text.strip().lower() not in words:
        raise ValueError("true or false is needed")
    return words[text.strip().lower()]


def endpoint(text: str) -> tuple[str, int]:
    host, _, port = text.strip().rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("HOST:PORT is needed, such as 127.0.0.1:8080")
    return host.strip("[]"), int(port)


def dashboard_place(text: str) -> str:
    """`auto`, `on`, `off` or HOST:PORT, where port 0 stands for any that is free."""
    word = text.strip().lower()
    if word in {"auto", "on", "off"}:
        return word
    host, _, port = word.rpartition(":")
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        host = host if host == "localhost" else ""
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError("auto, on, off or ADDRESS:PORT is needed, such as 127.0.0.1:4280")
    return word


def ports(text: str) -> frozenset[int]:
    numbers = [part.strip() for part in text.split(",")]
    if not all(n.isdigit() and 0 < int(n) < 65536 for n in numbers):
        raise ValueError("port numbers separated by commas are needed, such as 80,443,8080")
    return frozenset(int(n) for n in numbers)


def servers(text: str) -> tuple[str, ...]:
    """IP addresses, each with a port if it is not the usual one."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for one in found:
        # `1.2.3.4`, `1.2.3.4:53`, `::1` or `[::1]:53`
        with_port = one.startswith("[") or one.count(":") == 1
        try:
            ipaddress.ip_address(endpoint(one)[0] if with_port else one)
        except ValueError:
            raise ValueError("IP addresses of DNS servers are needed, such as 9.9.9.9") from None
    return found


def some_of(*allowed: str) -> Callable[[str], frozenset[str]]:
    def parse(text: str) -> frozenset[str]:
        words = {part.strip().lower() for part in text.split(",") if part.strip()}
        if not words <= set(allowed):
            raise ValueError(f"some of {', '.join(allowed)} are needed, separated by commas")
        return frozenset(words)

    return parse


def url_length(text: str) -> int:
    number = count(text)
    if not 100 <= number <= 2048:
        raise ValueError("a number between 100 and 2048 is needed")
    return number


def parameters(text: str) -> tuple[str, ...]:
    """Names of URL parameters, as `mannerly.url.parameters` describes them."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for one in found:
        parameter_rule(one)
    return found


def parameter_rule(text: str) -> tuple[str, bool, int]:
    """Of one of them: its name, whether that is only a beginning, the least length of the value."""
    match = re.fullmatch(r"([^\s&=;/?#,*:]+)(\*?)(?::([0-9]{1,4}))?", text)
    if match is None:
        raise ValueError("parameters separated by commas are needed, such as ref,utm_*,sid:16")
    return match[1].lower(), bool(match[2]), int(match[3] or 0)


def one_of(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        word = text.strip()
        folded = {a.lower(): a for a in allowed}
        if word.lower() not in folded:
            raise ValueError(f"one of {', '.join(allowed)} is needed")
        return folded[word.lower()]

    return parse
