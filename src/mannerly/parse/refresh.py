"""`<meta http-equiv="refresh">`: where it leads, by the HTML standard's rules."""

import re

# Possessive throughout (`*+`): with `*`, 30 kB of digits took 24 s of going back and forth.
_REFRESH = re.compile(
    r"""
    [\t\n\f\r ]*+ (?: [0-9]++ | (?=\.) ) [0-9.]*+   # a delay, of which the fraction is ignored
    (?: [\t\n\f\r ]*+ [;,] | [\t\n\f\r ] )          # white space or a separator must follow
    [\t\n\f\r ]*+
    (?: [uU][rR][lL] [\t\n\f\r ]*+ = [\t\n\f\r ]*+ )?
    (?: " (?P<double>[^"]*) | ' (?P<single>[^']*) | (?P<bare>.*) )
    """,
    re.VERBOSE | re.DOTALL,
)


def refresh_target(content: str) -> str:
    """The URL in a refresh, as written; '' if it only reloads the page, or is not a refresh."""
    found = _REFRESH.match(content)
    if not found:
        return ""
    return (found["double"] or found["single"] or found["bare"] or "").strip("\t\n\f\r ")
