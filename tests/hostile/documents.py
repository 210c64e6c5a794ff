"""Documents made to cost a parser time or memory, a MiB each, as pages of a few sites: one after
the other, as a site would serve them, so that what is seen is the cost of each, not of a queue."""

from collections.abc import Callable

from tests.hostile.site import CUT, FETCHED, NO_ROBOTS, PAGE, Expected, Site, response

MIB = 1024 * 1024
SITES = 2

Make = Callable[[], bytes]


def _laughs() -> bytes:
    """A billion laughs, with an entity that asks for a file."""
    entities = [b'<!ENTITY l0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">']
    entities += [b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10)]
    return b'<?xml version="1.0"?><!DOCTYPE html [' + b"".join(entities) + b"]><p>&l9;&f;</p>"


DOCUMENTS: dict[str, Make] = {
    "nested-divs": lambda: b"<div>" * 100_000,
    "nested-tables": lambda: b"<table><tr><td>" * 70_000,
    "fonts-in-tables": lambda: b"<table><font color=1>" * 49_000,
    "misnested": lambda: b"<b><i><p></b></i>" * 60_000,
    "reopened": lambda: (
        b"<p>" + b"".join(b"<b id=%d>" % n for n in range(700)) + b"<p>x" * 700
    ),
    "paragraphs": lambda: b"<p>" * 349_000,
    "cells": lambda: b"<table>" + b"<td>" * 262_000,
    "a-million-links": lambda: b"".join(b"<a href=%x>" % n for n in range(78_000)),
    "areas": lambda: b"<area href=/>" * 80_000,
    "unclosed-attributes": lambda: b'<a href="' * 116_000,
    "2-mb-attribute": lambda: b'<a href="' + b"x" * 2 * MIB + b'">x</a>',
    "attributes": lambda: b"<a " + b" ".join(b"%x" % n for n in range(170_000)) + b">",
    "short-attributes": lambda: (b"<p " + b" ".join(b"%c" % c for c in b"abcdefgh") + b">")
    * 52_000,
    "names-of-attributes": lambda: b"".join(b"<p a%x>" % n for n in range(110_000)),
    "names-of-elements": lambda: b"".join(b"<x%x></x%x>" % (n, n) for n in range(65_000)),
    "digits-in-refresh": lambda: (
        b'<meta http-equiv=refresh content="' + b"1" * 30_000 + b'">' + b"<p>x"
    ),
    "comments": lambda: b"<!--" * 260_000,
    "hidden": lambda: b"<p hidden>" * 100_000,
    "entities": lambda: b"&CounterClockwiseContourIntegral;" * 31_000,
    "nul": lambda: b"<\0a\0 href\0=\0x>" * 80_000,
    "laughs": _laughs,
    "long-base": lambda: (
        b"<base href='/" + b"b" * 1900 + b"/'>"
        + b"".join(b"<a href=%x>" % n for n in range(5_000))
    ),
}  # fmt: skip


def sites(pages_a_site: int) -> list[Site]:
    names = sorted(DOCUMENTS)
    return [_site(f"documents-{n}", names[n::SITES], pages_a_site) for n in range(SITES)]


def _site(name: str, documents: list[str], most_requests: int) -> Site:
    links = "".join(f"<a href='/{document}'>{document}</a>" for document in documents)
    scripts = {"/": response(f"<p>{links}".encode())}
    expected: dict[str, Expected] = {"/": FETCHED}
    for document in documents:
        body = DOCUMENTS[document]()
        kind = "application/xhtml+xml" if document == "laughs" else "text/html"
        scripts[f"/{document}"] = response(body, kind)
        expected[f"/{document}"] = CUT if len(body) > MIB else FETCHED
    # What they link to is there, too, until the site has given as many pages as it may.
    return Site(
        name,
        lambda path: NO_ROBOTS if path == "/robots.txt" else scripts.get(path, PAGE),
        expected,
        most_requests=most_requests,
    )
