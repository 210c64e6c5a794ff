"""Parameters of a URL that say who follows a link, not what it leads to: tracking, session ids.

Without them one page has as many URLs as it has visitors. They are removed from seeds and links,
from the query and from path parameters (`/cart;jsessionid=1F2E`). The list is a guess about other
people's programs, so it can be changed: a rule is

    name        a parameter of this name; upper and lower case are the same
    name*       every parameter whose name begins so
    sid:16      only where its value has at least 16 characters: `sid=7` is a story, not a session

Names are compared as they stand in the URL: `utm%5Fsource` stays, since nobody writes it.
"""

import re
from collections.abc import Iterable

from mannerly.units import parameter_rule

TRACKING = (
    "utm_*", "mtm_*", "piwik_*", "pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium",
    "pk_content", "pk_cid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "_ga", "_gl",
    "fbclid", "igshid", "igsh", "msclkid", "yclid", "ysclid", "_openstat", "twclid", "ttclid",
    "li_fat_id", "epik", "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hstc", "__hssc",
    "__hsfp", "hsctatracking", "vero_id", "vero_conv", "wickedid", "oly_anon_id", "oly_enc_id",
    "rb_clickid", "s_cid",
)  # fmt: skip
SESSIONS = (
    "phpsessid", "jsessionid", "aspsessionid*", "asp.net_sessionid", "cftoken", "cfid:5",
    "sid:16", "sessid:16", "session_id:16", "sessionid:16", "session:16", "zenid:16", "oscsid:16",
    "xtcsid:16", "s:32",
)  # fmt: skip
DEFAULT = "default"
"""In a list of rules: all of the above."""
NONE = "none"
"""As the only rule: nothing is removed."""

_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)
_AUTHORITY = len("https://")
_ENDLESS = 1 << 62
_NAMES = 10_000
"""Names whose verdict is remembered; when they are too many it starts anew."""


class ParameterRules:
    """Which parameters are removed. Made once, asked for every link that has any."""

    __slots__ = ("_keep", "_lengths", "_strip")

    def __init__(self, strip: Iterable[str] = (DEFAULT,), keep: Iterable[str] = ()) -> None:
        """`keep` is stronger. `ValueError` for a rule that is none."""
        self._strip = [parameter_rule(rule) for rule in expanded(strip)]
        self._keep = [parameter_rule(rule) for rule in keep]
        self._lengths: dict[str, tuple[int, int]] = {}

    def strip(self, url: str) -> str:
        """A canonical URL without them; canonical again, and a fixed point."""
        path, _, query = url.partition("?")
        if ";" in path:
            start = path.index("/", _AUTHORITY)
            path = path[:start] + "/".join(map(self._segment, path[start:].split("/")))
        else:
            # Nearly always nothing goes, so this is what a link with a query costs.
            known = self._lengths
            for part in query.split("&"):
                name, _, value = part.partition("=")
                least, below = known.get(name) or self._judged(name)
                if least <= len(value) < below:
                    break
            else:
                return url
        query = "&".join([part for part in query.split("&") if not self._goes(part)])
        return f"{path}?{query}" if query else path

    def _segment(self, segment: str) -> str:
        if ";" not in segment:
            return segment
        first, *parameters = segment.split(";")
        shorter = ";".join([first, *(part for part in parameters if not self._goes(part))])
        # What is left of `..;sid=` would be a step up, which is another page.
        return segment if _DOTS.fullmatch(shorter) else shorter

    def _goes(self, part: str) -> bool:
        name, _, value = part.partition("=")
        least, below = self._lengths.get(name) or self._judged(name)
        return least <= len(value) < below

    def _judged(self, name: str) -> tuple[int, int]:
        """How long a value must at least be, and stay below, for the parameter to go. Remembered by
        name, since names come again and again."""
        if len(self._lengths) >= _NAMES:
            self._lengths.clear()
        lengths = _least(self._strip, name), _least(self._keep, name)
        return self._lengths.setdefault(name, lengths)


def _least(rules: list[tuple[str, bool, int]], name: str) -> int:
    """The least length of a value that the rules ask for with this name."""
    name = name.lower()
    return min(
        (
            least
            for start, star, least in rules
            if name == start or (star and name.startswith(start))
        ),
        default=_ENDLESS,
    )


def expanded(rules: Iterable[str]) -> list[str]:
    """The rules with `default` and `none` replaced by what they stand for."""
    found: list[str] = []
    for rule in rules:
        found += (*TRACKING, *SESSIONS) if rule == DEFAULT else () if rule == NONE else (rule,)
    return found
