"""Choosing by type, plain text, charsets and robots tags."""

# ruff: noqa: RUF001 - letters that look like others are what is tested

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.parse import parse, parse_text
from mannerly.parse.charset import declared_in_header, declared_in_html, to_text, to_utf8
from mannerly.parse.encodings import decoded, named


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"<p>a", "text/html", "a"),
        (b"<p>a", "Text/HTML; charset=utf-8", "a"),
        (b"<p>a", "application/xhtml+xml", "a"),
        (b"<p>a", "text/plain", "<p>a"),
        (b"<p>a", "", "a"),
        (b" <!-- c --><!DOCTYPE html><p>a", "application/octet-stream", "a"),
        (b"just words", "", "just words"),
        (b"\x89PNG\r\n\x1a\n\0\0", "", None),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png", None),
        (b"{}", "application/json", None),
        (b"", "", None),
        (b"%PDF-1.7", "application/pdf", None),
    ],
)
def test_the_type_decides(body: bytes, content_type: str, text: str | None) -> None:
    found = parse(body, content_type, agent="x")
    assert (None if found is None else found.text) == text


def test_plain_text_keeps_its_lines() -> None:
    found = parse_text(b"\n a  b \r\nc\0\n\nd\n", "text/plain")
    assert (found.text, found.charset, found.hrefs) == (" a  b\nc\n\nd", "UTF-8", [])
    assert len(parse_text(b"x" * 100, "text/plain", max_text=10).text) == 10


@settings(deadline=None)  # the first body that must be guessed loads the detector
@given(st.binary(max_size=200), st.text(max_size=40))
def test_never_raises(body: bytes, content_type: str) -> None:
    parse(body, content_type, agent="x")
    parse(body, f"text/plain; charset={content_type}", agent="x")
    to_utf8(body, content_type)[1].decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Все люди рождаются свободными и равными в своем достоинстве и правах.", "windows-1251"),
        ("Все люди рождаются свободными и равными в своем достоинстве и правах.", "KOI8-R"),
        (
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
            "Shift_JIS",
        ),
        ("人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。", "gb18030"),
        ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.", "EUC-KR"),
        ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.", "windows-1253"),
        ("Tous les êtres humains naissent libres et égaux en dignité.", "windows-1252"),
    ],
)
def test_what_declares_nothing_is_detected(text: str, name: str) -> None:
    body = f"<html><title>x</title><p class=a>{text}</p></html>".encode(
        name.replace("Shift_JIS", "cp932")
    )
    assert to_utf8(body, "text/html")[1].decode().count(text) == 1
    assert to_text(body, "text/plain; charset=utf-8")[0] == "UTF-8"
    assert to_utf8(b"<meta charset=koi8-u>" + body, "text/html")[0] == "KOI8-U"


def test_detection_is_bounded() -> None:
    started = time.process_time()
    for body in (b"\xe9<" * 1_000_000, b"\xe9" * 2_000_000, b"\xe9\xff<a>" * 400_000):
        to_utf8(body, "text/html")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("text/html; charset=latin1", "windows-1252"),
        ('text/html;charset="UTF-8"', "UTF-8"),
        ("text/html; Charset = gb2312 ; x=y", "GBK"),
        ("text/html; charset=nonsense", ""),
        ("text/html", ""),
        ("", ""),
    ],
)
def test_header(header: str, name: str) -> None:
    assert declared_in_header(header) == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'<?xml version="1.0" encoding="iso-8859-2"?><html>', "ISO-8859-2"),
        (b"<meta charset=utf-16>", "UTF-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<!-- <meta charset=koi8-r> -->", ""),
        (b"<title>charset <meta</title>", ""),
        (b"x" * 2000 + b"<meta charset=koi8-r>", "KOI8-R"),
        (b"x" * 20_000 + b"<meta charset=koi8-r>", ""),
    ],
)
def test_declared_in_html(head: bytes, name: str) -> None:
    assert declared_in_html(head) == name


@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("gb2312", "\u20ac\u4e2d".encode("gb18030"), "\u20ac\u4e2d"),
        ("shift_jis", b"\x87\x40", "\u2460"),
        ("euc-kr", b"\x81\x41", "\uac02"),
        ("iso-8859-8-i", b"\xe0", "\u05d0"),
        ("tis-620", b"\xa1", "\u0e01"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("iso-2022-kr", b"anything", "\ufffd"),
        ("latin1", b"\x93\x94", "\u201c\u201d"),
        ("utf-16", b"a\0", "a"),
        ("utf8", b"\xff", "\ufffd"),
    ],
)
def test_labels_mean_what_browsers_mean(label: str, body: bytes, text: str) -> None:
    assert decoded(body, named(label)) == text


def test_a_cut_character_is_still_utf8() -> None:
    assert to_text("é".encode() + "é".encode()[:1], "") == ("UTF-8", "é\ufffd")
    assert to_text(b"caf\xe9 au lait", "") == ("windows-1252", "café au lait")
    assert to_text(b"\xe9t\xe9", "") == ("windows-1252", "été")
