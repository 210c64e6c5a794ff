"""w3lib's URL cases, one by one: where its answer differs from ours, and why.

w3lib makes URLs safe to request and keeps what it can; its canonical form sorts parameters. Ours
is what a browser would request, less what no server sees, so not all answers can be the same. Every
case has to be the same or to fall under one of the reasons below, each of which is checked.
"""

import base64
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from mannerly.errors import UrlError
from mannerly.url import ParameterRules, canonical

SAME = "same"
REFUSED = "both refuse it"
NO_TEXT = "not a text: a program's mistake, or a URL in parts"
DOES_LESS = "its answer is the same URL to us: it keeps fragment, port, credentials or no path"
ORDER = "it sorts parameters and drops empty ones; servers may tell these apart"
ESCAPES = "it changes the escapes of characters; a browser requests them as they are"
ENCODING = "it is told an encoding, or given bytes in one; ours is always UTF-8"
SCHEME = "not a whole http(s) URL"
HOST = "no name that DNS could hold"


def text_of(argument: Any) -> str | None:
    if isinstance(argument, dict) and "b64" in argument:
        return base64.b64decode(argument["b64"]).decode("utf-8", "surrogateescape")
    return argument if isinstance(argument, str) else None


def ours(text: str) -> str | None:
    try:
        return canonical(text)
    except UrlError:
        return None


def reason(case: dict[str, Any]) -> str:
    """Why the answers differ; `ValueError` if nobody knows."""
    text, expected = text_of(case["args"][0]), case["expected"]
    if text is None:
        return NO_TEXT
    got = ours(text)
    if isinstance(expected, dict):
        return REFUSED if got is None else _unknown(case, got)
    if got == expected:
        return SAME
    if got is None:
        if not re.match(r"\s*https?:", text, re.IGNORECASE):
            return SCHEME
        host = re.split(r"[/?#]", text.split("//")[1])[0]
        fits = all(0 < len(label.encode()) < 64 for label in host.split("."))
        return _unknown(case, got) if fits and len(host) < 254 and "[" not in host else HOST
    if ours(expected) == got:
        return DOES_LESS
    if any("encoding" in name for name in case["kwargs"]) or case["args"][1:]:
        return ENCODING
    if "\udc80" <= max(text) <= "\udcff":
        return ENCODING
    whole = ours(expected) or ""
    if unquote(whole, errors="surrogateescape") == unquote(got, errors="surrogateescape"):
        return ESCAPES
    if sorted(_pairs(whole)) == sorted(_pairs(got)):
        return ORDER
    if not case["kwargs"].get("keep_blank_values", True) and set(_pairs(whole)) < set(_pairs(got)):
        return ORDER
    return _unknown(case, got)


def _pairs(url: str) -> list[tuple[str, str]]:
    path, _, query = url.partition("?")
    query = query.replace(";", "&")  # as a case asks for
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    return [("", unquote(path)), *pairs]


def _unknown(case: dict[str, Any], got: str | None) -> str:
    raise ValueError(f"{case}: {got}")


def counts(suites: Path, function: str) -> dict[str, int]:
    cases = json.loads((suites / "url" / "w3lib_url_cases.json").read_text("utf-8"))[function]
    return dict(Counter(reason(case) for case in cases))


def test_canonical_form(suites: Path) -> None:
    assert counts(suites, "canonicalize_url") == {
        SAME: 40, DOES_LESS: 8, ORDER: 16, ESCAPES: 9, ENCODING: 3, SCHEME: 5, HOST: 2, NO_TEXT: 7
    }  # fmt: skip


def test_safe_urls(suites: Path) -> None:
    assert counts(suites, "safe_url_string") == {
        SAME: 88, REFUSED: 53, DOES_LESS: 100, ESCAPES: 6, ENCODING: 12, SCHEME: 46, HOST: 6,
        NO_TEXT: 2
    }  # fmt: skip
    assert counts(suites, "safe_download_url") == {SAME: 6, ENCODING: 2}


def test_parameters_removed_by_name(suites: Path) -> None:
    cases = json.loads((suites / "url" / "w3lib_url_cases.json").read_text("utf-8"))
    checked = 0
    for case in cases["url_query_cleaner"]:
        if not case["kwargs"].get("remove"):
            continue  # it keeps what is named, or the first of each: not for a crawler to decide
        rules = ParameterRules(case["args"][1])
        url = canonical(f"http://example.org/{text_of(case['args'][0])}", parameters=rules)
        left = url.removeprefix("http://example.org/")
        # `?&` is a query to us.
        assert left.removesuffix("?&") == case["expected"]
        checked += 1
    assert checked == 5
