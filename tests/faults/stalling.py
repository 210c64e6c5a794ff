"""50 sites that take every request and answer none, among 50 good ones: the good ones must be done
as soon as without them."""

from mannerly.selftest import Finding
from mannerly.simweb.answer import Behaviour
from mannerly.simweb.judge import ROBOTS
from mannerly.simweb.spec import preset
from tests.faults.ground import SEED, Ground, Tell, ground
from tests.faults.verdict import Verdict

SITES = 50
ALLOWED = 1.2
WORKERS = 200
"""More than there are sites: who stalls keeps a slot for as long as a visit may take."""
SPEC = preset("plain", seed=SEED, sites=3 * SITES, stalling_sites=0.5, pages_mean=30.0,
              pages_tail=4.0, pages_max=60, body_mean=3000, links_min=10, links_max=20,
              outside_links=0.0, latency_s=0.1)  # fmt: skip


def play(tell: Tell) -> Verdict:
    alone_s, pages = _crawled(stalling=0)
    tell(f"{pages:,} pages of {SITES} good sites alone: {alone_s:.1f} s")
    among_s, pages_among = _crawled(stalling=SITES)
    tell(f"among {SITES} that stall: {among_s:.1f} s")
    ratio = among_s / alone_s
    wrong = [f"{ratio:.2f} times as long, not {ALLOWED}"] if ratio > ALLOWED else []
    if pages != pages_among:
        wrong.append(f"{pages_among} pages, not {pages}")
    finding = Finding("good sites are not slowed", f"{ratio:.2f} times as long", wrong)
    return Verdict(
        [finding],
        {
            "alone_s": round(alone_s, 2),
            "among_s": round(among_s, 2),
            "ratio": round(ratio, 3),
            "pages": pages,
            "workers": WORKERS,
        },
    )


def _crawled(*, stalling: int) -> tuple[float, int]:
    """From the first request to the end of the last one to a good site, and their pages."""
    with ground(SPEC, {}) as there:
        crawl = there.crawl("a", max_workers=str(WORKERS), max_tries="2", max_failures="2")
        seeds = there.folder / "seeds.txt"
        seeds.write_text("".join(f"{home}\n" for home in _homes(there, stalling)))
        crawl.start("--seed-file", str(seeds))
        there.until_over()
        assert not crawl.failure(), crawl.failure()
        good = [it for it in there.web.records() if it.status == 200 and it.path != ROBOTS]
    return max(it.end for it in good) - min(it.start for it in good), len(good)


def _homes(there: Ground, stalling: int) -> list[str]:
    """50 good sites, and so many that stall, in turns."""
    web = there.web.web
    every = list(zip(there.web.homes(), range(web.spec.sites), strict=True))
    bad = [home for home, n in every if web.site(n).behaviour is Behaviour.STALL]
    good = [home for home, n in every if web.site(n).behaviour is Behaviour.WHOLE]
    return [*bad[:stalling], *good[:SITES]]
