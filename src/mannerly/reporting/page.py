"""The report as one HTML file: nothing in it is fetched from anywhere, and no script is run.

A policy in its head says so to the browser: even if markup of the web's came into the page, its
scripts, pictures and styles would be refused.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from mannerly import __version__
from mannerly.reporting import curves, sections
from mannerly.reporting.figures import Figures
from mannerly.reporting.markup import Markup, element
from mannerly.reporting.scales import bytes_text, seconds_text

_SECTIONS = (
    ("rate", "Rate over time", curves.rate),
    ("outcomes", "Outcomes", sections.outcomes),
    ("sizes", "Sizes and times", sections.sizes_and_times),
    ("found", "What was found", sections.found),
    ("sites", "Sites", sections.sites),
    ("politeness", "Politeness", sections.politeness),
    ("failures", "Failures", sections.failures),
    ("costs", "Cost", sections.costs),
    ("about", "About this report", sections.about),
)


def page(figures: Figures) -> str:
    """The whole document."""
    title = f"Crawl report, {figures.made_at:%Y-%m-%d %H:%M} UTC"
    head = element(
        "head", None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": _policy()}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("title", None, title),
        element("style", None, Markup(_style())),
    )  # fmt: skip
    parts = [
        element("section", {"aria-labelledby": f"{name}-heading"},
                element("h2", {"id": f"{name}-heading"}, heading),
                element("div", {"class": "columns"}, draw(figures)))
        for name, heading, draw in (_SECTIONS if figures.totals.urls else ())
    ]  # fmt: skip
    if not parts:
        parts.append(element("p", None, "No URL is settled yet: there is nothing to tell."))
    main = element("main", None, _tiles(figures), *parts)
    body = element("body", None, _header(figures), main)
    return "<!DOCTYPE html>\n" + element("html", {"lang": "en"}, head, body) + "\n"


@cache
def _style() -> str:
    return files("mannerly.reporting").joinpath("static", "report.css").read_text(encoding="utf-8")


def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _header(figures: Figures) -> Markup:
    totals = figures.totals
    span = ""
    if totals.first_at is not None and totals.last_at is not None:
        span = (
            f"{totals.first_at:%Y-%m-%d %H:%M} to {totals.last_at:%Y-%m-%d %H:%M} UTC, "
            f"{seconds_text(totals.span_s)}. "
        )
    state = "The crawl is running" if figures.running else "The crawl is not running"
    made = f"{state}; looked at {figures.made_at:%Y-%m-%d %H:%M:%S} UTC by Mannerly {__version__}."
    links = [element("a", {"href": f"#{name}-heading"}, heading) for name, heading, _ in _SECTIONS]
    return element(
        "header", None,
        element("h1", None, "Crawl report"),
        element("p", None, f"{span}{made}"),
        element("p", {"class": "places"}, ", ".join(figures.data_dirs)),
        element("nav", {"aria-label": "Sections"}, *links) if totals.urls else "",
    )  # fmt: skip


def _tiles(figures: Figures) -> Markup:
    totals = figures.totals
    rate = f"{totals.fetched / totals.span_s:,.1f}/s on average" if totals.span_s else ""
    share = f"{100 * totals.failures / totals.urls:.1f} % of the URLs" if totals.urls else ""
    tiles = (
        ("Pages fetched", f"{totals.fetched:,}", rate),
        ("Pages stored", f"{totals.pages:,}", f"{totals.duplicates:,} marked as copies"),
        ("Sites", f"{totals.sites:,}", f"{totals.processes:,} crawl processes"),
        ("URLs settled", f"{totals.urls:,}", f"{totals.redirected:,} led elsewhere"),
        ("Failures", f"{totals.failures:,}", share),
        ("Disallowed", f"{totals.disallowed:,}", "by robots.txt or exclusion"),
        ("Requests", f"{totals.requests:,}", f"{totals.robots_requests:,} for robots.txt"),
        ("Received", bytes_text(totals.wire_bytes),
         f"{bytes_text(totals.body_bytes)} of stored pages, decoded"),
    )  # fmt: skip
    return element("dl", {"class": "tiles"}, *(
        element("div", None, element("dt", None, name), element("dd", None, value),
                element("dd", {"class": "more"}, more) if more else "")
        for name, value, more in tiles
    ))  # fmt: skip
