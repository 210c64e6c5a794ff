"""What a parent and its processes tell each other: one JSON object a line, over a socket pair.

From the parent: `{"config": …, "workers": …}` first; then `{"stop": why}`, `{"reread": true}` when
the exclusions changed, `{"pause": true|false}`, `{"workers": …}`, and `{"look": true}` when another
process has left, with what it held, or seeds were added. From the child: `{"tally": …}` about once
a second, which is also its sign of life; `{"snapshot": …}` for whoever shows it; `{"log": …}`; and
at its end `{"ended": why}` or `{"failed": message}`. The end of the stream says that the other side
is gone.
"""

import json
from collections.abc import Mapping
from typing import Any

from mannerly.config import OPTIONS, Config, as_text, build

LINE_BYTES = 2**22
"""The longest line that is read: a tally takes kilobytes, a configuration what its lists do."""
BEAT_S = 1.0


def encoded(message: Mapping[str, object]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decoded(line: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(line)
    return message


def config_document(config: Config) -> dict[str, str]:
    """A configuration as text by option, as the environment could have it. Not on the command line:
    a database's password is in it."""
    values = {
        name: as_text(getattr(getattr(config, option.section), name))
        for name, option in OPTIONS.items()
    }
    return {
        name: text
        for name, text in values.items()
        if text and text != as_text(OPTIONS[name].default)
    }


def config_from(document: Mapping[str, str]) -> Config:
    return build({name: OPTIONS[name].parse(text) for name, text in document.items()})
