"""What a written page looks like: as pages of shops, papers and manuals do.

The simulated web's own pages are mostly prose, six tenths of their bytes. On the real web a page of
60 kB has a few hundred to a thousand words; the rest is markup with long attributes, a menu, cards,
style, scripts and data for them. Here an eighth of the bytes is text: 1,300 words, 520
elements and 82 links in 63 kB, 11 kB as gzip.

Style, scripts and frame are those of a site, the rest is the page's own. Nothing but `<a href>`
leads anywhere (pictures are loaded late, by `data-src`), so that programs which fetch what a page
is made of ask for the same URLs as those that do not.
"""

import random
from collections.abc import Iterator
from html import escape

from mannerly.simweb.words import WORDS

STYLE_SHARE = 0.14
SCRIPT_SHARE = 0.20
_COMMON = WORDS[:180]
_BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_ICON = (
    '<svg class="icon icon--{name}" aria-hidden="true" focusable="false" viewBox="0 0 24 24" '
    'width="24" height="24"><path fill="currentColor" d="M{a}.5 4.2c-4.1 0-7.{b} 3.4-7.{b} 7.5 0 '
    '2.{a} 1.4 5.3 3.6 6.6l-.{b} 3.7 3.9-2.1h.4c4.1 0 7.5-3.4 7.5-7.{a}s-3.4-8.2-7.5-8.2z"/></svg>'
)


class Layout:
    """The words and the frame of one site's pages."""

    def __init__(self, seed: int, origin: str, language: str) -> None:
        self._chance = random.Random(seed)
        self._origin = origin
        self._language = language
        rare = ["".join(self._chance.choices("etaoinshrdlucm", k=n)) for n in range(4, 12)] * 12
        self._words = _COMMON * 3 + [f"{w}{self._chance.choice('aeiou')}" for w in rare]
        self._name = f"{self._word()}-{self._word()}".replace("&", "").replace(";", "")

    def page(self, seed: int, url: str, hrefs: list[str], size: int) -> bytes:
        """The page at `url` of about `size` bytes, with these links, as attribute text."""
        self._chance.seed(seed)
        title = self._sentence(7)
        body = [
            *self._head(url, title, size),
            *self._header(hrefs[:12]),
            f'<main id="main" class="page__main" role="main"><article class="article article--'
            f'standard" itemscope itemtype="https://schema.org/Article">\n<h1 class="article__title'
            f'" itemprop="headline">{title}</h1>\n<p class="article__byline">By <span class="'
            f'author__name">{self._sentence(2)}</span> <time datetime="2026-0{seed % 9 + 1}-1'
            f'{seed % 10}">1{seed % 10}.{seed % 9 + 1}.2026</time></p>\n',
        ]
        foot = [*self._footer(hrefs[12:28]), *self._scripts(size)]
        room = size - sum(map(len, body)) - sum(map(len, foot))
        body += self._article(hrefs[28:], room)
        return "".join(body + foot).encode()

    def _word(self) -> str:
        return self._chance.choice(self._words)

    def _sentence(self, count: int) -> str:
        return " ".join(self._chance.choices(self._words, k=count)).capitalize()

    def _head(self, url: str, title: str, size: int) -> Iterator[str]:
        said = self._sentence(18)
        yield (
            f'<!DOCTYPE html>\n<html lang="{self._language}" dir="ltr" class="no-js" prefix="og: '
            f'http://ogp.me/ns#">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="X-UA-'
            f'Compatible" content="IE=edge">\n<meta name="viewport" content="width=device-width, '
            f'initial-scale=1, shrink-to-fit=no">\n<title>{title} | {self._name}</title>\n'
            f'<meta name="description" content="{said}">\n<link rel="canonical" href="'
            f'{escape(url)}">\n<meta property="og:type" content="article">\n<meta property="og:'
            f'title" content="{title}">\n<meta property="og:description" content="{said}">\n'
            f'<meta property="og:url" content="{escape(url)}">\n<meta property="og:image" content="'
            f'{self._origin}/media/{self._chance.randrange(10**9)}/cover_1200x630.jpg">\n'
            f'<meta name="twitter:card" content="summary_large_image">\n<meta name="theme-color" '
            f'content="#0a4d8c">\n'
        )
        yield "<style>" + "".join(self._rules(int(size * STYLE_SHARE))) + "</style>\n"
        yield (
            '<script type="application/ld+json">{"@context":"https://schema.org","@type":"News'
            f'Article","headline":"{title}","datePublished":"2026-03-12T08:00:00Z","publisher":'
            f'{{"@type":"Organization","name":"{self._name}"}},"description":"{said}"}}</script>\n'
            f'</head>\n<body class="page page--article theme-light section-{self._name}">\n<a class'
            '="skip-link visually-hidden" href="#main">Skip to content</a>\n'
        )

    def _rules(self, size: int) -> Iterator[str]:
        made = number = 0
        while made < size:
            rule = (
                f".{self._name}-grid__cell--{number}:not(.is-hidden){{display:flex;margin:0 "
                f"{number % 7}px;padding:.{number % 9}rem 1rem;color:#{number * 7919 % 4096:03x};"
                f"transition:opacity .{number % 5 + 1}s ease-in-out}}"
            )
            made, number = made + len(rule), number + 1
            yield rule

    def _header(self, links: list[str]) -> Iterator[str]:
        icon = _ICON.format(name="logo", a=3, b=7)
        yield (
            f'<header class="site-header js-sticky" data-module="header" data-track="nav">\n<div '
            f'class="site-header__inner container container--wide">{icon}\n<nav class="main-nav" '
            'aria-label="Main"><ul class="main-nav__list" role="menubar">\n'
        )
        for href in links:
            yield (
                '<li class="main-nav__item" role="none"><a class="main-nav__link" role="menuitem" '
                f'href="{href}" data-track-label="nav-item"><span class="main-nav__label">'
                f"{self._sentence(2)}</span></a></li>\n"
            )
        yield (
            '</ul></nav>\n<button class="button button--icon js-toggle" type="button" aria-expanded'
            f'="false" aria-controls="menu">{_ICON.format(name="menu", a=5, b=2)}</button>\n</div>'
            "\n</header>\n"
        )

    def _article(self, links: list[str], room: int) -> Iterator[str]:
        """Paragraphs, cards and lists by turns, as long as there are links or room."""
        made = at = 0
        while made < room or at < len(links):
            first, second, *listed = [*links[at : at + 6], "", ""][:6]
            part = self._paragraph(first) + self._card(second) + self._list(listed)
            made, at = made + len(part), at + 6
            yield part
        yield "</article>\n</main>\n"

    def _list(self, hrefs: list[str]) -> str:
        items = "".join(
            f'<li class="related__item"><a class="related__link" href="{href}"><span class="related'
            f'__kicker">{self._word()}</span> {self._sentence(3)}</a></li>\n'
            for href in hrefs
            if href
        )
        return f'<ul class="related related--inline">\n{items}</ul>\n' if items else ""

    def _paragraph(self, href: str) -> str:
        before, after = self._sentence(12), self._sentence(16)
        middle = self._sentence(3)
        if href:
            middle = f'<a class="link link--inline" href="{href}">{middle}</a>'
        head = f'<h2 class="article__heading" id="h{self._chance.randrange(10**6)}">{middle}</h2>\n'
        if self._chance.random() < 0.8:
            head = ""
            after = f"{middle} {after}"
        return (
            f'{head}<p class="article__paragraph">{before} <em>{self._word()}</em> {after}.</p>\n'
        )

    def _card(self, href: str) -> str:
        number = self._chance.randrange(10**8)
        media = f"{self._origin}/media/{number}"
        title = self._sentence(4)
        if href:
            title = f'<a class="card__link" href="{href}" data-track-label="card">{title}</a>'
        return (
            f'<div class="card card--teaser grid__cell grid__cell--third" data-id="{number}"><div '
            f'class="card__media"><img class="lazyload" src="{_BLANK}" data-src="{media}/w480.jpg" '
            f'data-srcset="{media}/w320.jpg 320w, {media}/w480.jpg 480w, {media}/w960.jpg 960w" '
            f'sizes="(min-width: 60em) 33vw, 100vw" width="480" height="270" alt="{self._word()}">'
            f'</div><div class="card__body"><h3 class="card__title">{title}</h3><p class="card__'
            f'text">{self._sentence(8)}.</p><span class="card__meta"><time datetime="2026-03-12">12'
            f'.3.</time> <span class="tag tag--small">{self._word()}</span></span></div></div>\n'
        )

    def _footer(self, hrefs: list[str]) -> Iterator[str]:
        yield '<footer class="site-footer" role="contentinfo"><div class="container grid">\n'
        for at in range(0, len(hrefs), 4):
            rows = "".join(
                f'<li class="footer-list__item"><a class="footer-list__link" href="{href}">'
                f"{self._sentence(2)}</a></li>"
                for href in hrefs[at : at + 4]
            )
            yield f'<div class="grid__cell"><ul class="footer-list">{rows}</ul></div>\n'
        yield (
            f'</div><p class="legal">&copy; 2026 {self._name} &middot; <a href="mailto:editors@'
            f'{self._name}.invalid">Contact</a></p></footer>\n'
        )

    def _scripts(self, size: int) -> Iterator[str]:
        yield '<script>window.__STATE__={"items":['
        made = 0
        while made < size * SCRIPT_SHARE:
            item = (
                f'{{"id":{self._chance.randrange(10**8)},"slug":"{self._word()}-{self._word()}",'
                f'"score":0.{self._chance.randrange(10**4)},"flags":[true,false,null],"teaser":"'
                f'{self._sentence(3)}"}},'
            )
            made += len(item)
            yield item
        yield (
            'null]};(function(d,w){var s=d.createElement("script");s.async=1;if(w.__STATE__.items.'
            "length<2&&\"<a href='/not-a-link'>\"){w.q=[]}})(document,window);</script>\n</body>\n"
            "</html>\n"
        )
