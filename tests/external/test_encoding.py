"""web-platform-tests and html5lib: labels of encodings, and finding the encoding of a page."""

import base64
import json
from pathlib import Path

from mannerly.parse.charset import declared_in_html, to_text, to_utf8
from mannerly.parse.encodings import decoded, named
from mannerly.parse.refresh import refresh_target


def test_every_label_is_known(suites: Path) -> None:
    cases = json.loads((suites / "html" / "whatwg_encoding_labels.json").read_text("utf-8"))
    assert len(cases) == 228
    assert {case["label"]: named(case["label"]) for case in cases} == {
        case["label"]: case["name"] for case in cases
    }


def test_every_encoding_decodes_anything(suites: Path) -> None:
    cases = json.loads((suites / "html" / "whatwg_encoding_labels.json").read_text("utf-8"))
    everything = bytes(range(256)) * 3
    for name in {case["name"] for case in cases}:
        text = decoded(everything, name)
        assert text, name
        text.encode("utf-8")


def test_prescan(suites: Path) -> None:
    cases = json.loads((suites / "html" / "html5lib_encoding_cases.json").read_text("utf-8"))
    wrong = []
    for case in cases:
        if case["scripted"]:
            continue
        body = base64.b64decode(case["data_b64"])
        marked = body.startswith((b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe"))
        # The suite's fallback is windows-1252; ours would be UTF-8 for its ASCII documents.
        got = to_utf8(body, "")[0] if marked else declared_in_html(body) or "windows-1252"
        if got.lower() != case["encoding"]:
            wrong.append((case["id"], got, case["encoding"], body))
    assert not wrong


def test_header_beats_nothing_but_a_byte_order_mark() -> None:
    assert to_text(b"\xef\xbb\xbfa", "text/plain; charset=latin1") == ("UTF-8", "a")
    assert to_text(b"\xe9", "text/plain; charset=latin1") == ("windows-1252", "\xe9")


def test_meta_refresh(suites: Path) -> None:
    cases = json.loads((suites / "html" / "wpt_meta_refresh_cases.json").read_text("utf-8"))
    wrong = []
    for case in cases:
        expected = case["url"] if case["redirects"] and case["url"] is not None else ""
        # Tabs and newlines inside are dropped when the URL is parsed.
        got = refresh_target(case["content"]).replace("\t", "").replace("\n", "")
        if got != expected:
            wrong.append((case, got))
    assert not wrong
