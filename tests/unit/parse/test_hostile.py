"""Documents made to hurt: bounded time and memory, and no crash of the C library.

Each runs in a process of its own, which may be killed by what is tested.
"""

import subprocess
import sys

import pytest

from mannerly.parse import parse_html
from mannerly.parse.blocks import marked
from mannerly.parse.contract import MAX_HEADINGS
from mannerly.parse.crop import MAX_PIECES, MAX_TAGS, pieces

PROGRAM = """
import resource, sys, time
from mannerly.parse import parse_html
def peak_kb():
    # Not ru_maxrss: that begins with what the process that started this one had in memory.
    return int(dict(line.split(":", 1) for line in open("/proc/self/status"))["VmHWM"].split()[0])
body = eval(sys.argv[1])
before = peak_kb()
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
started = time.process_time()
found = parse_html(body, "text/html", agent="x")
spent = time.process_time() - started
grown = peak_kb() - before
print(f"{spent:.3f} {grown // 1024} {len(found.hrefs)} {len(found.text)}")
"""

DOCUMENTS = {
    "nested divs": "b'<div>' * 100_000 + b'x'",
    "nested divs, few": "b'<div>' * 9_000 + b'x'",
    "divs closed by others": "b'<div>' * 100_000 + b'</span>' * 100_000",
    "divs behind a barrier": "b'<div><object></div></object>' * 50_000",
    "nested lists": "b'<ul><li>' * 100_000",
    "nested tables": "b'<table><tr><td>' * 100_000",
    "nested svg": "b'<svg>' * 200_000",
    "nested templates": "b'<template>' * 100_000",
    "reopened formatting": (
        "b'<p>' + b''.join(b'<b id=%d>' % n for n in range(2000)) + b'<p>x' * 2000"
    ),
    "reopened formatting, many": (
        "b'<p>' + b''.join(b'<I id=%d>' % n for n in range(60_000)) + b'<p>x' * 60_000"
    ),
    "three of each kind": (
        "b'<p>' + b''.join(b'<%s>' % t * 3 for t in b'b i u s em tt'.split()) + b'<p>x' * 400_000"
    ),
    "misnested formatting": "b'<i>' * 60_000 + b'<div>' * 60_000 + b'</i>' * 60_000",
    "a million links": "b'<a href=/x>' * 180_000",
    "distinct links": "b''.join(b'<a href=/%d>' % n for n in range(120_000))",
    "a long attribute": "b'<a href=\"' + b'x' * 2_000_000 + b'\">y</a>'",
    "attributes": "b'<a ' + b' '.join(b'a%d=1' % n for n in range(200_000)) + b'>y</a>'",
    "attributes that hide their end": (
        "b'<a ' + b' '.join(b'a%d=\">\"' % n for n in range(150_000)) + b'>y</a>'"
    ),
    "unclosed quotes": "b'<a b=\"' * 300_000",
    "unclosed preformatted": "b'<pre>' * 300_000",
    "comments": "b'<!--' * 400_000",
    "less-than signs": "b'<' * 2_000_000",
    "joined tags": "b'<a' * 1_000_000",
    "entities": "b'&lt' * 600_000",
    "paragraphs": "b'<p>' * 700_000",
    "areas": "b'<area href=/>' * 160_000",
    "hidden paragraphs": "b'<p hidden>' * 200_000",
    "short attributes": "b'<p a b c d e f g h>' * 110_000",
    "tags just below the long ones": (
        "(b'<p ' + b' '.join(b'%x' % n for n in range(900)) + b'>') * 500"
    ),
    "names of attributes": "b''.join(b'<p a%x>' % n for n in range(220_000))",
    "names behind hidden ends": (
        "b''.join(b'<p x=\">\" %x %x %x %x>' % (n, n + 1, n + 2, n + 3)"
        " for n in range(0, 300_000, 4))"
    ),
    "names behind a quote in a script": (
        "b'<script>x=\"</script>' + b''.join(b'<p a%x>' % n for n in range(220_000)) + b'\"'"
    ),
    "names of elements": "b''.join(b'<x%x></x%x>' % (n, n) for n in range(130_000))",
    "reopened formatting, small": (
        "b'<p>' + b''.join(b'<b id=%d>' % n for n in range(700)) + b'<p>x' * 700"
    ),
    "formatting closed in a value only": (
        "b'<p>' + b''.join(b'<b id=%d a=x\" b=\"y\" c=\"></b>\">' % n for n in range(2000))"
        " + b'<p>x' * 2000"
    ),
    "formatting that seems closed by a span": (
        "b'<p>' + b''.join(b'<b id=%d><span a=\"></b>\">' % n for n in range(2000))"
        " + b'<p>x' * 2000"
    ),
    "tags that never end": "b'<div title=\\'' * 180_000",
    "quotes that never end": 'b\'<div a="b" c="\' * 120_000',
    "preformatted, many": "b'<pre>x\\n</pre>' * 19_000",
    "blanks": "b'<p>' + b' ' * 2_000_000 + b'x'",
    "blanks in text": "b'<p>x' + b'  x' * 600_000",
    "headings": "b'<h1>' * 9_000 + b'x' * 1_000_000",
    "digits in a refresh": "b'<meta http-equiv=refresh content=\"' + b'1' * 100_000 + b'\">'",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_bounded(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, DOCUMENTS[name]],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    spent_s, grown_mb, hrefs, _ = done.stdout.split()
    assert float(spent_s) < 1.5
    assert int(grown_mb) < 64
    assert int(hrefs) <= 5_000


def test_a_type_is_guessed_in_no_time() -> None:
    """A thousand bytes, but 2^140 ways to say where its comments end."""
    found = subprocess.run(
        [sys.executable, "-c", "from mannerly.parse import parse\n"
         "print(parse(b'<!---->' * 140 + b'x', '', agent='x').text == '<!---->' * 140 + 'x')\n"
         "print(parse(b'<!-- a -->\\n<!----><p>b', '', agent='x').text)"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )  # fmt: skip
    assert found.stdout.split() == ["True", "b"]


def test_a_book_is_not_cropped() -> None:
    words = b" ".join(b"word%d" % n for n in range(100))
    book = b"".join(b"<p>%d %s</p>\n" % (n, words) for n in range(2_500)) + b"<a href=/next>on</a>"
    assert len(book) > 1_500_000
    assert list(pieces(marked(book))) == [marked(book).source]
    links = b"".join(
        b"<li><a class=c href='/d%d/p%d.html'>%d</a>\n" % (n, n, n) for n in range(7000)
    )
    assert list(pieces(marked(links))) == [marked(links).source]


def test_a_long_index_is_read_in_pieces() -> None:
    """None of it is lost or split, and the tree of each piece is small."""
    row = "<tr><td><h6>row {n}</h6> of</td><td><a href=/{n}>t<b>ab</b>le</a>"
    rows = "".join(row.format(n=n) for n in range(20_000))
    source = f"<html lang=en><title>t</title><table>{rows}</table><p>end".encode()
    whole = marked(source)
    parts = list(pieces(whole))
    assert b"".join(parts) == whole.source
    assert len(parts) == 6
    assert all(part.count(b"<") <= MAX_TAGS for part in parts)
    found = parse_html(source, "text/html", agent="x", max_links=50_000, anchors=True)
    assert [href.href for href in found.hrefs] == [f"/{n}" for n in range(20_000)]
    lines = "\n".join(f"row {n}\nof\ntable" for n in range(20_000))
    assert found.text == f"{lines}\nend"
    assert found.anchors["/19999"] == "table"
    assert (found.title, found.language) == ("t", "en")
    assert len(found.headings) == MAX_HEADINGS


def test_a_long_listing_is_not_split_in_a_line() -> None:
    line = "    <span class=k>let</span> x<i>{n}</i> = <span\nclass=n>{n}</span>;\n"
    rows = "".join(line.format(n=n) for n in range(20_000))
    found = parse_html(f"<pre>{rows}</pre>".encode(), "text/html", agent="x")
    assert found.text == "\n".join(f"let x{n} = {n};" for n in range(20_000))


def test_a_long_table_with_many_attributes_is_read_in_pieces() -> None:
    cell = "<td id=c{n} class='a b c' title='t u' data-n={n} lang=en dir=ltr>cell {n}"
    source = "".join(f"<tr>{cell.format(n=n)}" for n in range(15_000)).encode()
    whole = marked(source)
    parts = list(pieces(whole))
    assert whole.tags < MAX_TAGS
    assert len(parts) == 2
    assert b"".join(parts) == whole.source
    text = parse_html(source, "text/html", agent="x").text
    assert text == "\n".join(f"cell {n}" for n in range(15_000))


def test_what_is_longer_than_all_pieces_loses_its_end() -> None:
    source = b"".join(b"<p>%d" % n for n in range(MAX_PIECES * MAX_TAGS + 1000))
    text = parse_html(source, "text/html", agent="x", max_text=10**8).text
    found = text.split("\n")
    assert found == [str(n) for n in range(len(found))]
    assert MAX_PIECES * (MAX_TAGS - 2) <= len(found) <= MAX_PIECES * MAX_TAGS


def test_what_is_honest_is_not_cut() -> None:
    rows = "".join(
        f"<tr><td class=c><p>cell {n}<td><b id=b{n}>bold</b> <a href=/{n}>link</a>"
        for n in range(3000)
    )
    found = parse_html(f"<table>{rows}</table>".encode(), "text/html", agent="x")
    assert len(found.hrefs) == 3000
    assert "cell 2999" in found.text
