"""A story as a document for programs: plain JSON, keys that stay. Pure."""

import json
from collections.abc import Mapping

from mannerly.explaining.story import Story
from mannerly.model import Source


def document_of(story: Story, answer: str) -> dict[str, object]:
    """`answer` is for people; `state` and what follows it, for programs."""
    facts = story.facts
    document: dict[str, object] = {
        "answer": answer,
        "given": story.given,
        "url": story.url,
        "problem": story.problem,
        "site": story.site,
        "running": story.running,
        "state": facts.state.name.lower() if facts is not None else None,
        "outcome": facts.outcome.name.lower() if facts is not None else None,
        "scope": story.scope._asdict(),
        "excluded_by": story.excluded_by,
        "trap": story.trap,
        "robots": _robots(story),
        "frontier": _frontier(story),
        "fetches": story.fetches,
        "page": story.page,
        "redirected_from": story.redirected_from,
        "referrer": story.referrer,
        "same_body_as": story.twin,
        "repeats": story.repeats,
        "left_out": dict(story.left_out),
        "closed_pattern": story.closed._asdict() if story.closed is not None else None,
        "gaps": story.gaps,
    }
    plain: dict[str, object] = json.loads(json.dumps(document, default=str))
    return plain


def _robots(story: Story) -> Mapping[str, object] | None:
    if story.robots is None:
        return None
    return story.robots._asdict() | {"state": story.robots.state.name.lower()}


def _frontier(story: Story) -> Mapping[str, object] | None:
    """Where it waits, and how its site is; None if the frontier does not know its site."""
    facts = story.facts
    if facts is None or facts.site is None:
        return None
    queued = None
    if facts.queued is not None:
        queued = facts.queued._asdict() | {"source": Source(facts.queued.source).name.lower()}
    return {
        "before": facts.before,
        "queued": queued,
        "site": facts.site._asdict() | {"state": facts.site.state.name.lower()},
    }
