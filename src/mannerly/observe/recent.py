"""What a run came to lately: the latest pages, examples of each kind of failure, responses by class
and how long they took. Bounded, whatever the crawl is; fed by checkpoints, so all of it is durable.
"""

from collections import Counter, deque
from collections.abc import Collection, Sequence

from mannerly.observe.durations import Durations
from mannerly.observe.snapshot import KEPT_EXAMPLES, KEPT_PAGES, Example, LatestPage
from mannerly.records import FetchRecord, PageRecord

TITLE_CHARACTERS = 200
PREVIEW_CHARACTERS = 280
DETAIL_CHARACTERS = 200
NO_FAILURE = frozenset({"fetched", "redirected"})


class Recent:
    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.durations = Durations()
        self.dns_s = 0.0
        self._pages: deque[LatestPage] = deque(maxlen=KEPT_PAGES)
        self._examples: dict[str, deque[Example]] = {}

    def note(
        self,
        fetches: Sequence[FetchRecord],
        pages: Sequence[PageRecord],
        refused: Collection[int] = (),
    ) -> None:
        """A checkpoint's rows count, but for those of the refused tokens."""
        for fetch in fetches:
            if fetch.token in refused:
                continue
            if fetch.status:
                self.statuses[f"{fetch.status // 100}xx"] += 1
            if fetch.duration_s > 0:
                self.durations.note(fetch.duration_s)
            if fetch.outcome not in NO_FAILURE:
                some = self._examples.get(fetch.outcome)
                if some is None:
                    some = self._examples[fetch.outcome] = deque(maxlen=KEPT_EXAMPLES)
                detail = fetch.detail[:DETAIL_CHARACTERS]
                some.append(Example(fetch.url, fetch.status, detail, fetch.fetched_at))
        self.dns_s += sum(page.dns_s for page in pages)
        # Only what is kept is cut to size: a checkpoint has thousands of pages.
        for page in pages[-KEPT_PAGES:]:
            if page.token not in refused:
                self._pages.append(_latest(page))

    def pages(self) -> list[LatestPage]:
        """Newest first. For any thread, like the next."""
        return list(self._pages)[::-1]

    def examples(self) -> dict[str, list[Example]]:
        return {kind: list(some)[::-1] for kind, some in list(self._examples.items())}


def _latest(page: PageRecord) -> LatestPage:
    # Twice as much as is shown, since blanks are folded.
    words = page.text[: 2 * PREVIEW_CHARACTERS].split()
    return LatestPage(
        url=page.url,
        site=page.site,
        title=" ".join(page.title[:TITLE_CHARACTERS].split()),
        preview=" ".join(words)[:PREVIEW_CHARACTERS],
        status=page.status,
        fetched_at=page.fetched_at,
        duration_s=page.duration_s,
        wire_bytes=page.wire_bytes,
    )
