"""The one page: HTML, style and script in one document, so that it needs nothing else, neither from
the internet nor from here. Nothing of the crawl is in it; the script fetches that as data."""

import secrets
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from mannerly.dashboard.guard import content_policy
from mannerly.dashboard.http import Answer

_SCRIPTS = ("figures.js", "charts.js", "tables.js", "steering.js", "main.js")


@cache
def _static(name: str) -> str:
    return files("mannerly.dashboard").joinpath("static", name).read_text(encoding="utf-8")


def page(*, keeps_token: bool) -> Answer:
    """`keeps_token`: it stays in the address, since the page cannot be loaded again without it."""
    nonce = secrets.token_urlsafe(16)
    script = "\n".join(_static(name) for name in _SCRIPTS)
    text = (
        _static("page.html")
        .replace("{{nonce}}", nonce)
        .replace("{{keeps-token}}", "yes" if keeps_token else "no")
        .replace("{{style}}", _static("style.css"))
        .replace("{{script}}", script)
    )
    policy = ("Content-Security-Policy", content_policy(nonce))
    return Answer(HTTPStatus.OK, "text/html; charset=utf-8", text.encode(), (policy,))
