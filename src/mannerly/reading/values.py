"""What a value looks like outside: in JSON, in CSV, on a terminal."""

import datetime as dt
import json
import math
from collections.abc import Mapping
from decimal import Decimal

# Line ends to some readers of "one document a line", and legal in JSON strings as they are.
_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def json_line(document: Mapping[str, object]) -> str:
    """One line of JSON, for every reader: no NaN, nothing that somebody takes for a line end."""
    text = json.dumps(plain(dict(document)), ensure_ascii=False, allow_nan=False)
    # Three searches in C; `str.translate` took 4 ms for a page of 38 kB.
    for char, code in _LINE_ENDS.items():
        text = text.replace(char, code)
    return text


def plain(value: object) -> object:
    """The value in terms of JSON. What JSON has no word for: NaN and infinities are null, bytes are
    hexadecimal digits, instants are ISO 8601."""
    # Ordered by how often each kind comes along.
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return plain(float(value))
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return str(value)


def cell(value: object) -> object:
    """The value for CSV: nothing for null, JSON for what has parts."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict | list | tuple):
        return json.dumps(plain(value), ensure_ascii=False)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return str(value)


def printable(text: str) -> str:
    """What the web wrote is shown, never obeyed: no escape sequences, one line."""
    return "".join(char if char.isprintable() else " " for char in text)


def instant(value: object) -> str:
    """An instant of the store, ISO 8601 with its zone."""
    assert isinstance(value, dt.datetime)
    return value.isoformat(timespec="microseconds") + "Z"
