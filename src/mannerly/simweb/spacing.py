"""What a web asks of a crawler between two visits: delay, Crawl-delay, Retry-After.

From what the generator knows it answered, not from what a parser makes of it. A holder that was
killed or paused in the middle cannot know all of it, so less is asked of it (`Spacing.required`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mannerly.simweb.access import AccessRecord
from mannerly.simweb.judge import ROBOTS, Gap, Required, Visit
from mannerly.simweb.web import Web

BUSY = frozenset({429, 503})


class Break(NamedTuple):
    """A process was killed, or did not run, between two moments (unix seconds)."""

    from_at: float
    to_at: float


class Spacing:
    """The pauses that one web asks for. The counts say how many gaps were judged by which rule."""

    def __init__(
        self, web: Web, delay_s: float, breaks: Mapping[str, Sequence[Break]] | None = None
    ) -> None:
        """`breaks` by user agent: give each process of a crawl its own to tell them apart."""
        self._web = web
        self._delay_s = delay_s
        self._breaks = breaks or {}
        self.judged: Counter[str] = Counter()

    def required(self, gap: Gap) -> Required:
        """What must lie between two visits.

        - Where the holder of the first one ran all the time: from the end of its last response the
          crawl's delay, the host's Crawl-delay and the Retry-After, whichever is longest.
        - Where it was killed or paused since: from the first request the delay and the Crawl-delay.
          A Retry-After may never have been read, or not have been made durable.
        - And if that first visit was for robots.txt only: the delay. The Crawl-delay may have been
          in the answer that nobody read.
        """
        before = gap.before
        robots_only = before.requests[-1].path == ROBOTS
        crawl_delay_s = self._web.crawl_delay_s(_governed(before).url)
        pause_s = max(self._delay_s, crawl_delay_s)
        if not self._broken(before, gap.after.start):
            retry_s = self._retry_after_s(before)
            self.judged["retry-after" if retry_s > pause_s else "whole"] += 1
            self.judged["crawl-delay"] += crawl_delay_s > self._delay_s
            return Required(max(pause_s, retry_s))
        self.judged["broken"] += 1
        return Required(self._delay_s if robots_only else pause_s, from_start=True)

    def _broken(self, visit: Visit, until_at: float) -> bool:
        breaks = self._breaks.get(visit.requests[0].user_agent, ())
        return any(it.from_at <= until_at and it.to_at >= visit.start for it in breaks)

    def _retry_after_s(self, visit: Visit) -> float:
        """Seconds from the end of the visit; 0 if nothing was asked for."""
        last = visit.requests[-1]
        if last.status not in BUSY:
            return 0.0
        answer = self._web.answer(last.url)
        if answer.retry_date_s is not None:
            # A date has whole seconds, and was written some time after the request came.
            return int(last.start + answer.retry_date_s) - visit.end
        return float(dict(answer.extra).get("Retry-After", 0))


def _governed(visit: Visit) -> AccessRecord:
    """The request whose host says how long to wait: the page, or what robots.txt was read for."""
    last = visit.requests[-1]
    return visit.requests[0] if last.path == ROBOTS else last
