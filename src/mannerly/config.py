"""Configuration: frozen, typed, one section per component.

Three places, each stronger than the one before: a TOML file (`[politeness] delay = "70s"`), the
environment (`MANNERLY_DELAY=70s`), the command line (`--delay 70s`). One table of fields below is
the source of all three and of `docs/configuration.md`; an unknown key in any of them is an error.
Durations and sizes carry units.
"""

import dataclasses
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mannerly.dburl import database_url, schema_name, without_password
from mannerly.errors import ConfigError
from mannerly.model import Caps
from mannerly.timing import SLOW_S
from mannerly.units import (
    HALF,
    count,
    dashboard_place,
    duration,
    email,
    endpoint,
    memory_size,
    one_of,
    parameters,
    path,
    ports,
    positive,
    servers,
    size,
    some_of,
    some_size,
    some_time,
    string,
    switch,
    url_length,
    web_address,
)


def _option(
    default: object,
    parse: Callable[[str], object],
    help_: str,
    *,
    shown: str = "",
    meta: str = "",
    secret: bool = False,
) -> Any:
    """`secret`: the value may hold a password, so it is in no message and no `repr`."""
    metadata = {"parse": parse, "help": help_, "shown": shown, "meta": meta, "secret": secret}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSection:
    """What to crawl, and when to stop."""

    seed_file: Path | None = _option(
        None, path, "File of domains or URLs, one a line; '-' reads standard input.", meta="FILE"
    )
    email: str = _option(
        "",
        email,
        "Where site owners can reach you; part of every request. Required.",
        meta="ADDRESS",
    )
    contact_url: str = _option(
        "",
        web_address,
        "A page that tells who is crawling and why; part of every request.",
        meta="URL",
        shown="none",
    )
    data_dir: Path = _option(
        Path("mannerly-data"),
        path,
        "Where the crawl lives on disk.",
        meta="DIR",
        shown="mannerly-data",
    )
    db_url: str = _option(
        "",
        database_url,
        "The frontier's database: sqlite:///PATH, postgresql://USER@HOST/NAME, redis://HOST/NUMBER "
        "or redis+cluster://HOST:PORT,HOST:PORT.",
        meta="URL",
        shown="frontier.db in the data directory",
        secret=True,
    )
    db_schema: str = _option(
        "mannerly",
        schema_name,
        "The name of the crawl on a server (in PostgreSQL: its schema), so that several share one.",
        meta="NAME",
    )
    exclude_file: Path | None = _option(
        None, path, "File of domains, hosts and URL prefixes never to visit.", meta="FILE"
    )
    max_pages: int = _option(
        0,
        count,
        "Stop when the crawl as a whole has fetched so many pages.",
        meta="N",
        shown="no limit",
    )
    max_pages_per_site: int = _option(
        Caps().pages,
        count,
        "Pages fetched of one site; the rest of its URLs is dropped then. 0: no limit.",
        meta="N",
    )
    max_pending_per_site: int = _option(
        Caps().pending,
        count,
        "URLs of one site that wait in its queue; more are spilt: kept apart until there is room. "
        "0: no limit.",
        meta="N",
    )
    max_spilt_per_site: int = _option(
        Caps().spilt,
        count,
        "Spilt URLs of one site; more are dropped. 0: no limit.",
        meta="N",
    )
    max_duration: float = _option(
        0.0, duration, "Stop after so long.", meta="TIME", shown="no limit"
    )
    max_depth: int = _option(
        -1, count, "Follow links at most so many steps from a seed.", meta="N", shown="no limit"
    )
    seeded_urls_only: bool = _option(
        False, switch, "Fetch the seeds (and what they redirect to), follow no links."
    )
    sitemaps: str = _option(
        "robots",
        one_of("robots", "usual", "off"),
        "Read the sitemaps that robots.txt names; `usual`: /sitemap.xml where it names none.",
        meta="robots|usual|off",
    )
    scope: str = _option(
        "any",
        one_of("any", "seeded-sites"),
        "Follow links anywhere, or only within the sites of the seeds.",
        meta="any|seeded-sites",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessSection:
    """How sites are treated."""

    delay: float = _option(
        70.0,
        duration,
        "Time between two visits to a site, from the end of one to the start of the next.",
        meta="TIME",
        shown="70s",
    )
    address_delay: float = _option(
        0.5,
        duration,
        "Time between the beginnings of two visits to an IP address, whatever sites it has. 0: no "
        "limit.",
        meta="TIME",
        shown="500ms",
    )
    site_by: str = _option(
        "domain",
        one_of("domain", "host"),
        "What a site is: a registered domain with all its hosts, or a single host.",
        meta="domain|host",
    )
    crawl_delay_ceiling: float = _option(
        600.0,
        duration,
        "The longest Crawl-delay that is honoured in full.",
        meta="TIME",
        shown="10m",
    )
    retry_delay: float = _option(
        60.0,
        duration,
        "Rest of a site after a first failure; it grows fourfold with each further one.",
        meta="TIME",
        shown="60s",
    )
    retry_ceiling: float = _option(
        86400.0,
        duration,
        "The longest rest that a failure or a Retry-After leads to.",
        meta="TIME",
        shown="1d",
    )
    max_tries: int = _option(
        5, positive, "Visits made for a URL before its failure is final.", meta="N"
    )
    max_failures: int = _option(
        5, positive, "Failures in a row after which a site is abandoned.", meta="N"
    )
    robots_ttl: float = _option(
        86400.0, duration, "How long a robots.txt is believed.", meta="TIME", shown="1d"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSection:
    """Connections and bounds."""

    user_agent: str = _option(
        "",
        string,
        "The whole User-Agent header. Its first word is the name that robots.txt "
        "rules are matched with.",
        meta="TEXT",
        shown="mannerly/VERSION (+CONTACT-URL; EMAIL)",
    )
    max_workers: int = _option(500, positive, "Fetches in flight at once.", meta="N")
    visit_timeout: float = _option(
        60.0,
        some_time,
        "Total time for a visit: DNS, connection, robots.txt and page.",
        meta="TIME",
        shown="60s",
    )
    connect_timeout: float = _option(
        15.0, some_time, "Time to open a connection.", meta="TIME", shown="15s"
    )
    body_limit: int = _option(
        2 * 2**20,
        some_size,
        "Bytes read of a page, and bytes it may decode to; the rest is cut.",
        meta="SIZE",
        shown="2MiB",
    )
    ports: frozenset[int] = _option(
        frozenset({80, 443}), ports, "Ports that may be connected to.", meta="LIST", shown="80,443"
    )
    resolver: tuple[str, ...] = _option(
        (), servers, "DNS servers to ask, separated by commas.", meta="LIST", shown="the system's"
    )
    verify_tls: bool = _option(
        False, switch, "Count a certificate that does not verify as a failure."
    )
    connect_to: tuple[str, int] | None = _option(
        None,
        endpoint,
        "Connect to this address whatever the URL says (for test networks).",
        meta="HOST:PORT",
    )
    allow_private_addresses: bool = _option(
        False, switch, "Allow connections to private addresses (for test networks)."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlsSection:
    """What makes two URLs the same, and two hosts one site."""

    strip_parameters: tuple[str, ...] = _option(
        ("default",),
        parameters,
        "Parameters removed from URLs: names, name* for all that begin so, name:16 for values of "
        "at least 16 characters; 'default' stands for the well-known tracking and session ids, "
        "'none' for nothing.",
        meta="LIST",
        shown="default",
    )
    keep_parameters: tuple[str, ...] = _option(
        (), parameters, "Exceptions from --strip-parameters.", meta="LIST", shown="none"
    )
    suffix_file: Path | None = _option(
        None,
        path,
        "A public suffix list to use instead of the packaged one.",
        meta="FILE",
        shown="the packaged one",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapsSection:
    """URLs that are not worth following."""

    trap_guard: bool = _option(
        True, switch, "Leave out URLs that look like traps (endless paths and queries)."
    )
    max_url_length: int = _option(
        2048, url_length, "Characters of a URL; longer ones are left out.", meta="N"
    )
    max_path_segments: int = _option(40, count, "Segments of a URL's path. 0: no limit.", meta="N")
    max_repeated_segments: int = _option(
        5, count, "How often one segment may occur in a path. 0: no limit.", meta="N"
    )
    max_query_parameters: int = _option(40, count, "Parameters of a URL. 0: no limit.", meta="N")
    max_query_variants: int = _option(
        10_000,
        count,
        "About how many different queries are followed for one path of a site, numbers in the path "
        "folded. 0: no limit.",
        meta="N",
    )
    yield_guard: bool = _option(
        True,
        switch,
        "Put off, then leave out, links to a site's pages of a kind that keeps repeating itself.",
    )
    max_links: int = _option(5000, positive, "Links taken from one page.", meta="N")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSection:
    """The engine's processes, rhythm and durability."""

    processes: int = _option(
        0,
        positive,
        "Processes that crawl side by side on this machine. They share --max-workers and all other "
        "limits.",
        meta="N",
        shown="one per core",
    )
    hang_timeout: float = _option(
        30.0,
        some_time,
        "A process that gives no sign of life for so long is killed and replaced.",
        meta="TIME",
        shown="30s",
    )
    checkpoint_interval: float = _option(
        1.0,
        some_time,
        "How often work is made durable: about this much is repeated after a kill, more where the "
        "machine cannot keep up.",
        meta="TIME",
        shown="1s",
    )
    checkpoint_pages: int = _option(
        2000, positive, "Make work durable after so many pages at the latest.", meta="N"
    )
    sqlite_sync: str = _option(
        "FULL",
        one_of("FULL", "NORMAL"),
        "SQLite's synchronous setting: with NORMAL a power cut may repeat the last few seconds.",
        meta="FULL|NORMAL",
    )
    segment_size: int = _option(
        128 * 2**20,
        size,
        "Size at which the journal is rolled into Parquet.",
        meta="SIZE",
        shown="128MiB",
    )
    segment_age: float = _option(
        300.0,
        some_time,
        "Age at which the journal is rolled into Parquet if it has an eighth of that size; at "
        "twelve times the age it is in any case.",
        meta="TIME",
        shown="5m",
    )
    memory_limit: int = _option(
        HALF,
        memory_size,
        "Memory that the crawler may take: near it, less is done at once. 'half' is half of what "
        "the machine or its container has, 0 is no limit.",
        meta="SIZE",
        shown="half",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSection:
    """What is kept."""

    keep: frozenset[str] = _option(
        frozenset(),
        some_of("pages", "links", "main-text", "warc"),
        "What is kept beside the pages, separated by commas: links (who links to whom, with which "
        "words), main-text (a page's text without navigation; takes twice the CPU of parsing), "
        "warc (requests and responses as they went over the wire).",
        meta="LIST",
        shown="pages only",
    )
    min_free_disk: int = _option(
        512 * 2**20,
        size,
        "With less room than this on a disk of the crawl, nothing new is fetched until there is "
        "more. 0 is to fill it.",
        meta="SIZE",
        shown="512MiB",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveSection:
    """What is shown."""

    log_level: str = _option(
        "INFO",
        one_of("DEBUG", "INFO", "WARNING", "ERROR"),
        "Least important messages shown.",
        meta="LEVEL",
    )
    log_format: str = _option(
        "text",
        one_of("text", "json"),
        "Messages and progress for people, or as lines of JSON for programs.",
        meta="text|json",
    )
    progress: str = _option(
        "auto",
        one_of("auto", "live", "lines", "off"),
        "Live view, plain lines, or nothing; auto is live on a terminal.",
        meta="auto|live|lines|off",
    )
    dashboard: str = _option(
        "auto",
        dashboard_place,
        "A page that shows and steers the crawl, and metrics: on is 127.0.0.1:4280 or, if that is "
        "taken, another port; auto is on at a terminal. Elsewhere than on this machine's own "
        "address it asks everybody for the token.",
        meta="auto|on|off|HOST:PORT",
    )
    dashboard_token: str = _option(
        "",
        string,
        "What the dashboard's controls ask for; at least 16 characters.",
        meta="TEXT",
        shown="a new one each run",
        secret=True,
    )
    slow_operation: float = _option(
        SLOW_S,
        some_time,
        "Warn of an operation on the database that takes longer.",
        meta="TIME",
        shown="5s",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    crawl: CrawlSection = CrawlSection()
    politeness: PolitenessSection = PolitenessSection()
    fetch: FetchSection = FetchSection()
    urls: UrlsSection = UrlsSection()
    traps: TrapsSection = TrapsSection()
    engine: EngineSection = EngineSection()
    store: StoreSection = StoreSection()
    observe: ObserveSection = ObserveSection()
    given: frozenset[str] = frozenset()
    """Names of the options that somebody set; the others have their defaults."""


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table that options, environment and file are read by."""

    section: str
    name: str
    parse: Callable[[str], object]
    default: object
    help: str
    shown: str
    meta: str
    secret: bool

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return "MANNERLY_" + self.name.upper()

    @property
    def shown_default(self) -> str:
        if self.shown:
            return self.shown
        if self.default is None or self.default == "":
            return ""
        if isinstance(self.default, bool):
            return "on" if self.default else "off"
        return str(self.default)


SECTIONS: dict[str, type] = {
    f.name: type(f.default)
    for f in dataclasses.fields(Config)
    if dataclasses.is_dataclass(f.default)
}
OPTIONS: dict[str, Option] = {
    field.name: Option(
        section, field.name, field.metadata["parse"], field.default, field.metadata["help"],
        field.metadata["shown"], field.metadata["meta"], field.metadata["secret"])
    for section, kind in SECTIONS.items()
    for field in dataclasses.fields(kind)
}  # fmt: skip


def load(
    flags: Mapping[str, str],
    *,
    file: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Config:
    """Read all three places. `flags` are the options given on the command line, as text."""
    values: dict[str, object] = {}
    if file is not None:
        values |= _from_file(file)
    for variable, text in environ.items():
        if variable.startswith("MANNERLY_") and variable not in _OTHER_VARIABLES:
            name = variable.removeprefix("MANNERLY_").lower()
            if name not in OPTIONS:
                raise ConfigError(f"environment variable {variable}: there is no such option")
            values[name] = _parse(OPTIONS[name], text, f"environment variable {variable}")
    for name, text in flags.items():
        values[name] = _parse(OPTIONS[name], text, OPTIONS[name].flag)
    return build(values)


def build(values: Mapping[str, object]) -> Config:
    """A configuration from parsed values by option name."""
    sections = {
        section: kind(**{n: v for n, v in values.items() if OPTIONS[n].section == section})
        for section, kind in SECTIONS.items()
    }
    return Config(**sections, given=frozenset(values))


# Variables with our prefix that are not options: where the tests find the external suites.
_OTHER_VARIABLES = frozenset({"MANNERLY_SUITES"})


def _parse(option: Option, text: str, where: str) -> object:
    try:
        return option.parse(text)
    except ValueError as exc:
        told = text
        if option.secret:
            told = without_password(text) if "://" in text else "what was given"
        raise ConfigError(f"{where}: {told!r} does not fit: {exc}") from None


def _from_file(file: Path) -> dict[str, object]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as exc:
        raise ConfigError(f"--config {file}: {exc.strerror}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ConfigError(f"--config {file}: not valid TOML: {exc}") from exc
    values: dict[str, object] = {}
    for section, body in document.items():
        if section in OPTIONS:
            home = OPTIONS[section].section
            raise ConfigError(f"--config {file}: {section!r} belongs in the section [{home}]")
        if section not in SECTIONS:
            known = ", ".join(f"[{s}]" for s in SECTIONS)
            raise ConfigError(f"--config {file}: unknown section [{section}]; there are {known}")
        if not isinstance(body, dict):
            raise ConfigError(f"--config {file}: {section} must be a section, [{section}]")
        for key, value in body.items():
            option = OPTIONS.get(key)
            if option is None or option.section != section:
                hint = f"; it belongs in [{option.section}]" if option else ""
                raise ConfigError(f"--config {file}: unknown key {key!r} in [{section}]{hint}")
            values[key] = _parse(option, as_text(value), f"--config {file}: [{section}] {key}")
    return values


def as_text(value: object) -> str:
    """A value as it could be written in the environment; '' for none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], int):
        return f"[{value[0]}]:{value[1]}" if ":" in value[0] else f"{value[0]}:{value[1]}"
    if isinstance(value, frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        return ",".join(str(v) for v in value)
    return str(value)
