"""Options as a program gives them: the same table as the command line's, with Python's values."""

from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches

from mannerly.config import OPTIONS, Config, as_text, load
from mannerly.errors import ConfigError


def config_of(options: Mapping[str, object]) -> Config:
    """The configuration from keyword arguments. A value may be what the command line takes
    (`"70s"`), or a number, a bool, a path, a `timedelta`, a list. The environment is not read: what
    a program does should not depend on who starts it."""
    for name in options:
        if name not in OPTIONS:
            close = get_close_matches(name, OPTIONS, 1)
            hint = f"; is {close[0]} meant?" if close else ""
            raise ConfigError(f"there is no option {name!r}{hint}")
    given = {name: _text(value) for name, value in options.items() if value is not None}
    return load(given, environ={})


def _text(value: object) -> str:
    return f"{value.total_seconds()}s" if isinstance(value, timedelta) else as_text(value)
