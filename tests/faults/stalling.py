"""50 sites that take every request and answer none, among 50 good ones: the good ones must be done
as soon as without them."""

from typing import NamedTuple

from mannerly.selftest import Finding
from mannerly.simweb.answer import Behaviour
from mannerly.simweb.judge import ROBOTS
from mannerly.simweb.spec import preset
from tests.faults.ground import SEED, Ground, Tell, ground
from tests.faults.verdict import Verdict

SITES = 50
ALLOWED = 1.2
ROUNDS = 3
"""By turns, and the best of each counts: the machine may be busy with something else."""
WORKERS = 200
"""More than there are sites: who stalls keeps a slot for as long as a visit may take."""
SPEC = preset("plain", seed=SEED, sites=3 * SITES, stalling_sites=0.5, pages_mean=30.0,
              pages_tail=4.0, pages_max=60, body_mean=3000, links_min=10, links_max=20,
              outside_links=0.0, latency_s=0.1)  # fmt: skip


class Crawled(NamedTuple):
    took_s: float
    """From the first request for a page of a good site to the end of the last one."""
    pages: int
    """Of good sites."""
    unanswered: int
    """Requests that came to nothing."""


def play(tell: Tell) -> Verdict:
    alone, among = [], []
    for _ in range(ROUNDS):
        alone.append(_crawled(stalling=0))
        tell(f"{alone[-1].pages:,} pages of {SITES} good sites alone: {alone[-1].took_s:.1f} s")
        among.append(_crawled(stalling=SITES))
        tell(f"among {SITES} that stall: {among[-1].took_s:.1f} s, "
             f"{among[-1].unanswered} requests without an answer")  # fmt: skip
    alone_s, among_s = min(it.took_s for it in alone), min(it.took_s for it in among)
    ratio = among_s / alone_s
    wrong = [f"{ratio:.2f} times as long, not {ALLOWED}"] if ratio > ALLOWED else []
    pages = {it.pages for it in (*alone, *among)}
    if len(pages) > 1:
        wrong.append(f"not always the same pages: {sorted(pages)}")
    stalled = min(it.unanswered for it in among)
    if stalled < SITES:
        wrong.append(f"only {stalled} requests were left without an answer")
    finding = Finding("good sites are not slowed", f"{ratio:.2f} times as long", wrong)
    return Verdict(
        [finding],
        {
            "alone_s": [round(it.took_s, 2) for it in alone],
            "among_s": [round(it.took_s, 2) for it in among],
            "ratio": round(ratio, 3),
            "pages": max(pages),
            "requests_without_an_answer": stalled,
            "workers": WORKERS,
        },
    )


def _crawled(*, stalling: int) -> Crawled:
    with ground(SPEC, {}) as there:
        crawl = there.crawl("a", max_workers=str(WORKERS), max_tries="2", max_failures="2")
        seeds = there.folder / "seeds.txt"
        seeds.write_text("".join(f"{home}\n" for home in _homes(there, stalling)))
        crawl.start("--seed-file", str(seeds))
        there.until_over()
        assert not crawl.failure(), crawl.failure()
        records = there.web.records()
    good = [it for it in records if it.status == 200 and it.path != ROBOTS]
    took_s = max(it.end for it in good) - min(it.start for it in good)
    return Crawled(took_s, len(good), sum(it.status == 0 for it in records))


def _homes(there: Ground, stalling: int) -> list[str]:
    """50 good sites, and so many that stall, in turns."""
    web = there.web.web
    every = list(zip(there.web.homes(), range(web.spec.sites), strict=True))
    bad = [home for home, n in every if web.site(n).behaviour is Behaviour.STALL]
    good = [home for home, n in every if web.site(n).behaviour is Behaviour.WHOLE]
    return [*bad[:stalling], *good[:SITES]]
