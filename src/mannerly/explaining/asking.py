"""Ask everybody who knows something of a URL: the rules, the frontier, the store.

Reads only, and waits for nobody: a crawl may run meanwhile. A frontier or a store that does not
answer leaves a gap in the story, which is told with it; the rest is explained all the same.
"""

from contextlib import closing
from pathlib import Path

import duckdb

from mannerly import assemble
from mannerly.config import Config
from mannerly.datadir import is_held
from mannerly.engine.plan import parameter_rules, trap_rules
from mannerly.errors import ConfigError, FrontierError, MannerlyError, NoCrawlError
from mannerly.explaining.story import RobotsWord, Row, Scope, Story
from mannerly.explaining.words import Explanation, explanation
from mannerly.frontier.contract import Frontier
from mannerly.joining import joined
from mannerly.model import RobotsRecord, RobotsState
from mannerly.observe import operations
from mannerly.opening import existing_crawl
from mannerly.politeness.gate import GiveUp, KnownRobots, MustFetch, Wait, ask, version_of
from mannerly.politeness.robots import parse_robots
from mannerly.store.read import open_store
from mannerly.url import (
    Closed,
    Exclusions,
    Seed,
    TrapRules,
    host_of,
    origin_of,
    path_of,
    seeds,
    url_hash,
)
from mannerly.url.patterns import pattern_of

SHOWN_SOURCES = 5
"""Redirects to a URL that are named."""


async def explain(config: Config, text: str) -> Explanation:
    """Everything about the URL `text`, read as a line of a seed file is, in the crawl that `config`
    names. `NoCrawlError` if there is none."""
    story = Story(given=text, url="")
    try:
        async with existing_crawl(config) as (frontier, settings):
            config = joined(config, settings, resume=True)
            if _read(story, config):
                _ask_rules(story, config)
                await _ask_frontier(story, config, frontier)
    except FrontierError as exc:
        story.gaps.append(f"The frontier could not be asked ({exc}).")
        if _read(story, config):
            _ask_rules(story, config)
    if story.url:
        _ask_processes(story, config.crawl.data_dir)
        _ask_store(story, config.crawl.data_dir)
    return explanation(story)


def _read(story: Story, config: Config) -> bool:
    """Whether what was given is a URL. It is read by the crawl's own rules, which remove
    parameters: so it is the URL that the crawl knows."""
    seed = next(seeds.read([story.given], parameter_rules(config)), None)
    if isinstance(seed, Seed):
        story.url = seed.url
    else:
        story.problem = seed.reason if seed is not None else "nothing is there"
    return bool(story.url)


def _ask_rules(story: Story, config: Config) -> None:
    crawl = config.crawl
    host = host_of(story.url)
    story.site = assemble.make_site_key(config).site_of(host)
    story.scope = Scope(
        crawl.scope == "seeded-sites",
        follow=not crawl.seeded_urls_only,
        max_depth=crawl.max_depth,
        sitemaps=crawl.sitemaps != "off" and not crawl.seeded_urls_only,
    )
    # What is too long is left out with and without the guard.
    only_length = TrapRules(config.traps.max_url_length, None, None, None)
    story.trap = (trap_rules(config) or only_length).reason(story.url) or ""
    if crawl.exclude_file is not None:
        try:
            rules = Exclusions.read(crawl.exclude_file)
        except ConfigError as exc:
            story.gaps.append(f"The exclusion list could not be read ({exc}).")
        else:
            story.excluded_by = rules.rule_for(story.url, host, story.site)


async def _ask_frontier(story: Story, config: Config, frontier: Frontier) -> None:
    story.facts = await frontier.explain(story.site, url_hash(story.url))
    record = await frontier.robots_of(story.site, origin_of(story.url))
    if record is not None:
        story.robots = robots_word(record, story.url, config)


def robots_word(record: RobotsRecord, url: str, config: Config) -> RobotsWord:
    """What a record means for a URL: decided as the crawler decides it."""
    policy = assemble.pace_policy(config)
    rules = parse_robots(record.body, assemble.agent_token(config))
    known = KnownRobots(
        record.state, rules, -record.age_s, record.failures, version_of(record.body)
    )
    answer = ask(policy, known, 0.0)
    verdict = rules.verdict(path_of(url))
    unreachable = record.state is RobotsState.UNREACHABLE
    lines = record.body.splitlines()
    return RobotsWord(
        state=record.state,
        age_s=record.age_s,
        stale=isinstance(answer, MustFetch) and not (unreachable and answer.failures),
        failures=record.failures,
        retry_in_s=answer.until_at if isinstance(answer, Wait) else 0.0,
        given_up=isinstance(answer, GiveUp),
        allowed=verdict.allowed and not unreachable,
        line=verdict.line,
        rule=verdict.rule,
        text=lines[verdict.line - 1].decode("utf-8", "replace").strip() if verdict.line else "",
        crawl_delay_s=rules.crawl_delay,
    )


def _ask_processes(story: Story, data_dir: Path) -> None:
    """What the processes of the last run tell of links that they did not follow. Only the latest
    patterns are told, so that none is found does not mean that there was none."""
    story.running = is_held(data_dir)
    for process in operations.read(data_dir):
        story.left_out.update(process.left_out)
        for site, pattern, pages in process.closed:
            if site == story.site and pattern == pattern_of(story.url):
                story.closed = Closed(site, pattern, pages)


def _ask_store(story: Story, data_dir: Path) -> None:
    """After the frontier: what that says is settled was journalled before."""
    try:
        with closing(open_store(data_dir)) as store:
            _read_store(story, store)
    except NoCrawlError:
        story.gaps.append(f"There is no store in {data_dir}.")
    except (duckdb.Error, MannerlyError, OSError) as exc:
        why = str(exc).split("\n", 1)[0]
        story.gaps.append(f"The store could not be read ({why}); `mannerly check` looks closer.")


def _read_store(story: Story, store: duckdb.DuckDBPyConnection) -> None:
    hash_ = url_hash(story.url)
    story.fetches = _rows(
        store,
        "SELECT * FROM fetches WHERE url_hash = ? AND url = ? ORDER BY fetched_at",
        hash_,
        story.url,
    )
    pages = _rows(
        store,
        "SELECT * EXCLUDE (text), length(text) AS characters FROM pages "
        "WHERE url_hash = ? AND url = ?",
        hash_,
        story.url,
    )
    story.redirected_from = _rows(
        store,
        "SELECT url, status, fetched_at, detail FROM fetches WHERE redirect_to = ? LIMIT ?",
        story.url,
        SHOWN_SOURCES,
    )
    if pages:
        story.page = pages[0]
        twins = _rows(
            store,
            "SELECT url FROM pages WHERE content_hash = ? AND url != ? AND fetched_at <= ? "
            "ORDER BY fetched_at LIMIT 1",
            story.page["content_hash"],
            story.url,
            story.page["fetched_at"],
        )
        story.twin = str(twins[0]["url"]) if twins else ""
        story.repeats = _url_of(store, story.page["duplicate_of"])
    referrer = _referrer_hash(story)
    story.referrer = _url_of(store, referrer)


def _url_of(store: duckdb.DuckDBPyConnection, hash_: object) -> str:
    """The URL with this hash; '' if there is none, or it was never settled."""
    if not hash_:
        return ""
    named = _rows(store, "SELECT url FROM fetches WHERE url_hash = ? LIMIT 1", hash_)
    return str(named[0]["url"]) if named else ""


def _referrer_hash(story: Story) -> int:
    if story.facts is not None and story.facts.queued is not None:
        return story.facts.queued.referrer
    return int(str(story.fetches[0]["referrer_hash"])) if story.fetches else 0


def _rows(store: duckdb.DuckDBPyConnection, sql: str, *values: object) -> list[Row]:
    found = store.execute(sql, list(values))
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
