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


class ParameterRules:
    """Which parameters are removed. Made once, asked for every link that has any."""

    __slots__ = ("_keep", "_strip")

    def __init__(self, strip: Iterable[str] = (DEFAULT,), keep: Iterable[str] = ()) -> None:
        """`keep` is stronger. `ValueError` for a rule that is none."""
        self._strip = _Names(expanded(strip))
        self._keep = _Names(keep)

    def strip(self, url: str) -> str:
        """A canonical URL without them; canonical again, and a fixed point."""
        mark = url.find("?")
        path, query = (url, "") if mark < 0 else (url[:mark], url[mark + 1 :])
        if ";" in path:
            start = path.index("/", _AUTHORITY)
            path = path[:start] + "/".join(map(self._segment, path[start:].split("/")))
        if query:
            parts = query.split("&")
            kept = [part for part in parts if not self._goes(part)]
            if len(kept) < len(parts):
                query = "&".join(kept)
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
        name = name.lower()
        return self._strip.have(name, len(value)) and not self._keep.have(name, len(value))


class _Names:
    __slots__ = ("_least", "_prefixes", "_starts")

    def __init__(self, rules: Iterable[str]) -> None:
        self._least: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        for rule in rules:
            name, star, least = parameter_rule(rule)
            into = self._prefixes if star else self._least
            into[name] = min(least, into.get(name, least))
        self._starts = tuple(self._prefixes)

    def have(self, name: str, length: int) -> bool:
        least = self._least.get(name)
        if least is not None and length >= least:
            return True
        return name.startswith(self._starts) and any(
            length >= shortest and name.startswith(start)
            for start, shortest in self._prefixes.items()
        )


def expanded(rules: Iterable[str]) -> list[str]:
    """The rules with `default` and `none` replaced by what they stand for."""
    found: list[str] = []
    for rule in rules:
        found += (*TRACKING, *SESSIONS) if rule == DEFAULT else () if rule == NONE else (rule,)
    return found
