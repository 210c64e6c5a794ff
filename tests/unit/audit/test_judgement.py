"""Hand-made records, each with one thing wrong, or with what only looks wrong."""

from pathlib import Path

import pytest

from mannerly.audit import RULES as ALL_RULES
from mannerly.audit import Audit
from mannerly.errors import NoCrawlError, UsageError
from mannerly.politeness.gate import version_of
from tests.unit.audit.diary import DELAY_S, REFUSED, REST_S, RULES, START_AT, Diary
from tests.unit.engine.runs import run_of

SITE = "a.example"
HOME = f"https://{SITE}"


@pytest.fixture
def diary(tmp_path: Path) -> Diary:
    """One visit: robots.txt, and the first page at once."""
    diary = Diary(tmp_path)
    diary.robots(0, HOME, visit=1)
    diary.page(1, f"{HOME}/", visit=1)
    return diary


def test_a_polite_crawl_is_found_so(diary: Diary) -> None:
    diary.page(2 + REST_S, f"{HOME}/private/open", robots_line=3)
    diary.page(3 + 2.8 * REST_S, f"{HOME}/2")
    report = diary.judge()
    assert report.clean
    assert report.violations == []
    assert (report.requests, report.pages, report.visits, report.sites) == (4, 3, 3, 1)
    assert (report.verdicts, report.rules_read, report.unsettled_visits) == (3, 1, 0)
    assert report.smallest_margin_s == pytest.approx(0, abs=1e-5)
    assert report.smallest_margin_site == SITE
    assert report.histogram["1 to 1.01"] == 1
    assert report.histogram["1.5 to 2"] == 1
    (line,) = report.site_lines
    assert line[:4] == (SITE, 4, 3, 3)
    assert line.shortest_gap_s == pytest.approx(REST_S)
    assert line.violations == 0


def too_soon(diary: Diary) -> None:
    diary.page(2 + REST_S - 0.5, f"{HOME}/2")


def before_retry_after(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", status=503, rest_s=600.0, why="retry-after")
    diary.page(101 + 599, f"{HOME}/3")


def two_at_once(diary: Diary) -> None:
    diary.page(1.5, f"{HOME}/2", visit=2)


def two_pages_in_a_visit(diary: Diary) -> None:
    diary.page(2, f"{HOME}/2", visit=1)


def no_rest(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", rest_s=DELAY_S - 0.01)


def robots_of_another_origin(diary: Diary) -> None:
    diary.page(100, f"http://{SITE}/2")


def no_robots_at_all(diary: Diary) -> None:
    diary.page(0, "https://b.example/")


def robots_read_too_late(diary: Diary) -> None:
    diary.page(0, "https://b.example/", visit=8)
    diary.robots(1, "https://b.example", visit=8)


def another_version(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", b"User-agent: *\nDisallow:\n")


def robots_that_could_not_be_read(diary: Diary) -> None:
    diary.robots(0, "https://b.example", robots_state="unreachable", visit=8)
    diary.page(1, "https://b.example/", visit=8)


def a_page_elsewhere(diary: Diary) -> None:
    diary.page(100, "https://b.example/", site=SITE, origin=HOME)


def old_robots(diary: Diary) -> None:
    diary.page(86400 + 40, f"{HOME}/2")


def old_copy_of_robots(diary: Diary) -> None:
    diary.robots(100, HOME, robots_fetched_at=START_AT - 86400, visit=8)
    diary.page(101, f"{HOME}/2", visit=8)


def disallowed(diary: Diary) -> None:
    diary.page(100, f"{HOME}/private/?x", robots_line=2)


def other_line(diary: Diary) -> None:
    diary.page(100, f"{HOME}/private/open", robots_line=1)


def altered_body(diary: Diary) -> None:
    diary.requests[0] = diary.requests[0]._replace(body=b"User-agent: *\nDisallow:\n")


def private_address(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", address="10.1.2.3")


def no_address(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", address="somewhere")


def ended_before_it_began(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", ended_at=START_AT + 99)


def unknown_run(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", writer=5)


WRONG = {
    too_soon: "too soon",
    before_retry_after: "too soon",
    two_at_once: "too soon",
    two_pages_in_a_visit: "crowded visit",
    no_rest: "below the delay",
    robots_of_another_origin: "no robots.txt",
    no_robots_at_all: "no robots.txt",
    robots_read_too_late: "no robots.txt",
    another_version: "no robots.txt",
    robots_that_could_not_be_read: "no robots.txt",
    a_page_elsewhere: "no robots.txt",
    old_robots: "stale robots.txt",
    old_copy_of_robots: "stale robots.txt",
    disallowed: "disallowed",
    other_line: "other line",
    altered_body: "altered rules",
    private_address: "private address",
    no_address: "private address",
    ended_before_it_began: "impossible times",
    unknown_run: "unknown run",
}


def test_every_rule_is_tried() -> None:
    assert set(WRONG.values()) == set(ALL_RULES)


@pytest.mark.parametrize("spoil", WRONG, ids=lambda spoil: spoil.__name__)
def test_each_kind_of_violation_is_found_and_no_other(diary: Diary, spoil: object) -> None:
    assert callable(spoil)
    spoil(diary)
    report = diary.judge()
    assert not report.clean
    assert report.counts == {WRONG[spoil]: 1}
    (violation,) = report.violations
    assert violation.rule == WRONG[spoil]
    assert violation.site in (SITE, "b.example")
    assert sum(line.violations for line in report.site_lines) == 1
    assert not violation.other_clock


def test_after_a_void_visit_the_delay_from_start_to_start_is_due(diary: Diary) -> None:
    """The frontier never heard of its Retry-After; it may even have ended after the next began."""
    diary.page(100, f"{HOME}/2", token=REFUSED, ended_at=START_AT + 500, rest_s=600.0,
               why="retry-after")  # fmt: skip
    diary.page(100 + DELAY_S, f"{HOME}/3")
    report = diary.judge()
    assert report.clean
    assert report.unsettled_visits == 1


def test_after_a_void_visit_less_than_the_delay_is_too_soon(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", token=REFUSED)
    diary.page(100 + DELAY_S - 0.2, f"{HOME}/3")
    assert diary.judge().counts == {"too soon": 1}


def test_a_known_crawl_delay_holds_after_a_void_visit(diary: Diary) -> None:
    diary.page(100, f"{HOME}/2", token=REFUSED, delay_s=300.05, rest_s=300.05)
    diary.page(300, f"{HOME}/3")
    assert diary.judge().counts == {"too soon": 1}


def test_the_wall_clock_may_be_set_between_processes_of_one_boot(diary: Diary) -> None:
    """An hour back: by the wall clock the second process ran before the first."""
    diary.runs = [
        run_of(1, clock="boot", clock_offset_s=START_AT),
        run_of(2, clock="boot", clock_offset_s=START_AT - 3600, begun_at=START_AT - 3600 + 50),
    ]
    diary.page(100 - 3600, f"{HOME}/2", writer=2)
    report = diary.judge()
    assert report.clean
    assert report.wall_clock_set_by_s == 3600
    assert report.clocks == 1
    assert report.smallest_margin_s == pytest.approx(98 - REST_S)


def test_a_gap_that_only_wall_clocks_measured_is_said_to_be_so(diary: Diary) -> None:
    diary.runs = [run_of(1, clock="one"), run_of(2, clock="other")]
    diary.page(50, f"{HOME}/2", writer=2)
    report = diary.judge()
    assert report.counts == {"too soon": 1}
    assert report.clocks == 2
    assert report.violations[0].other_clock


def test_addresses_are_only_judged_where_they_were_guarded(diary: Diary) -> None:
    diary.runs = [run_of(1, guarded=False)]
    private_address(diary)
    assert diary.judge().clean


def test_rules_read_at_another_site_count_for_who_asked(diary: Diary) -> None:
    """b.example sends everybody to a.example for its rules. Judged alone, it still has them."""
    diary.robots(200, "https://b.example", site=SITE, visit=9, url=f"{HOME}/robots.txt")
    diary.page(201, "https://b.example/", visit=9)
    report = diary.judge("b.example")
    assert report.clean
    assert (report.requests, report.sites, report.verdicts) == (1, 1, 1)


def test_rules_that_many_sites_share_are_read_once(diary: Diary) -> None:
    for number in range(50):
        diary.robots(0, f"https://s{number}.example", visit=1000 + number)
        diary.page(1, f"https://s{number}.example/x", visit=1000 + number)
    report = diary.judge()
    assert report.clean
    assert (report.rules_read, report.verdicts) == (1, 2)
    assert report.sites == 51


def test_every_request_is_listed_with_its_gap_and_what_it_rests_on(diary: Diary) -> None:
    diary.page(100, f"{HOME}/private/open", robots_line=3)
    diary.judge()
    with Audit([diary.data_dir]) as audit:
        robots, first, second = audit.requests()
    assert (robots["kind"], robots["gap_s"], robots["due_s"]) == ("robots", None, None)
    assert (first["kind"], first["gap_s"]) == ("page", None)
    assert (second["gap_s"], second["due_s"], second["why"]) == (98.0, REST_S, "delay")
    assert (second["robots_line"], second["robots_hash"]) == (3, version_of(RULES))


def test_nothing_to_judge(diary: Diary) -> None:
    with pytest.raises(UsageError, match=r"no request of a site nobody\.example"):
        diary.judge("nobody.example")
    with pytest.raises(NoCrawlError):
        Audit([diary.data_dir / "elsewhere"])
