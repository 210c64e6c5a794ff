"""The report for programs."""

from dataclasses import fields, is_dataclass

from mannerly.reading.values import plain
from mannerly.reporting.figures import Figures


def document(figures: Figures) -> dict[str, object]:
    """The figures in terms of JSON: a row is an object, with the columns of its query as keys;
    instants are ISO 8601, in UTC."""
    found = _named(figures)
    assert isinstance(found, dict)
    return found


def _named(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _named(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _named(it) for name, it in value._asdict().items()}
    if isinstance(value, list):
        return [_named(it) for it in value]
    return plain(value)
