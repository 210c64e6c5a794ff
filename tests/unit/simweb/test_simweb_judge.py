"""The judge sees what a crawler did wrong, and nothing else."""

from pathlib import Path

from mannerly.simweb import AccessRecord, Web, preset
from mannerly.simweb.access import AccessFile, from_line, read_log, to_line
from mannerly.simweb.judge import (
    disallowed_requests,
    fetched_twice,
    gaps,
    pages_before_robots,
    too_soon,
    visits,
)


def request(
    start: float,
    path: str,
    status: int = 200,
    host: str = "a.test",
    took: float = 0.5,
    to: str = "",
) -> AccessRecord:
    return AccessRecord(
        start, start, start + took, host, "http", path, status, "test", "1", 100, sent_whole=True,
        location=to,
    )  # fmt: skip


def site_of(host: str) -> str:
    return ".".join(host.split(".")[-2:])


POLITE = [
    request(0, "/robots.txt", 301, to="http://www.a.test/robots.txt"),
    request(1, "/robots.txt", host="www.a.test"),
    request(2, "/"),
    request(12.5, "/x"),
    request(12.6, "/y", host="b.test"),
    request(24, "/robots.txt", 404, host="blog.a.test"),
    request(24.5, "/z", host="blog.a.test"),
]


def test_robots_its_redirects_and_the_page_are_one_visit() -> None:
    found = visits(reversed(POLITE), site_of)
    assert [[r.path for r in visit.requests] for visit in found["a.test"]] == [
        ["/robots.txt", "/robots.txt", "/"],
        ["/x"],
        ["/robots.txt", "/z"],
    ]
    assert len(found["b.test"]) == 1


def test_a_robots_file_that_is_asked_for_again_is_another_visit() -> None:
    found = visits([request(0, "/robots.txt", 503), request(1, "/robots.txt", 503)], site_of)
    assert len(found["a.test"]) == 2


def test_only_the_target_of_a_redirect_belongs_to_the_visit() -> None:
    elsewhere = request(0, "/robots.txt", 301, to="http://hub.test/robots.txt")
    found = visits([elsewhere, request(1, "/robots.txt", host="www.a.test")], site_of)
    assert len(found["a.test"]) == 2
    moved = request(0, "/robots.txt", 301, to="http://a.test/rules")
    (visit,) = visits([moved, request(1, "/rules"), request(2, "/")], site_of)["a.test"]
    assert [record.path for record in visit.requests] == ["/robots.txt", "/rules", "/"]


def test_a_page_of_another_host_is_another_visit() -> None:
    found = visits([request(0, "/robots.txt"), request(1, "/", host="www.a.test")], site_of)
    assert len(found["a.test"]) == 2


def test_two_requests_at_once_are_two_visits() -> None:
    found = visits([request(0, "/robots.txt", took=5), request(1, "/")], site_of)
    (gap,) = gaps(found)
    assert gap.end_to_start_s == -4


def test_gaps_count_from_the_end_of_the_last_response() -> None:
    (gap,) = gaps(visits(POLITE, site_of))
    assert (gap.site, gap.end_to_start_s, gap.start_to_start_s) == ("a.test", 10.0, 12.5)
    assert too_soon(visits(POLITE, site_of), 10.0) == []
    (violation,) = too_soon(visits(POLITE, site_of), 10.1)
    assert violation.record.path == "/x"
    assert "a.test" in violation.what
    assert too_soon(visits(POLITE, site_of), 10.1, from_start=True) == []


def test_a_response_that_outlasts_a_later_one_still_counts() -> None:
    slow = [request(0, "/a", took=20), request(10, "/b", took=1), request(15, "/c")]
    (gap,) = gaps(visits(slow, site_of))
    assert gap.end_to_start_s == -10
    assert len(too_soon(visits(slow, site_of), 4, from_start=True)) == 0
    early = [request(0, "/a", took=20), request(10, "/b", took=1), request(25, "/c")]
    (_, last) = too_soon(visits(early, site_of), 6)
    assert last.record.path == "/c"


def test_the_smallest_start_gap_is_found_even_where_another_end_gap_is_smaller() -> None:
    mixed = [request(0, "/a", took=9), request(10, "/b", took=0), request(15, "/c")]
    (violation,) = too_soon(visits(mixed, site_of), 6, from_start=True)
    assert violation.record.path == "/c"


def test_pages_before_robots() -> None:
    assert pages_before_robots(POLITE[:4]) == []
    wrong = pages_before_robots(
        [
            request(0, "/early"),
            request(1, "/robots.txt"),
            request(1.2, "/during"),
            request(2, "/fine"),
            request(3, "/robots.txt", 503, host="down.test"),
            request(4, "/", host="down.test"),
        ]
    )
    assert [violation.record.url for violation in wrong] == [
        "http://a.test/early",
        "http://a.test/during",
        "http://down.test/",
    ]


def test_fetched_twice() -> None:
    cut = request(6, "/x")._replace(sent_whole=False)
    fine = [request(0, "/x", 503), cut, request(7, "/x"), *[request(8, "/robots.txt")] * 2]
    assert fetched_twice(fine) == []
    (violation,) = fetched_twice([*fine, request(20, "/x")])
    assert violation.record.start == 20


def test_disallowed_requests() -> None:
    web = Web(preset("plain", sites=1, robots_rules=1))
    host = web.site(0).host
    records = [request(0, path, host=host) for path in ("/", "/private/x", "/robots.txt")]
    assert [v.record.path for v in disallowed_requests(web, records)] == ["/private/x"]


def test_records_survive_the_file(tmp_path: Path) -> None:
    strange = POLITE[0]._replace(path='/"\\é', user_agent='a "b"\t', sent_whole=False)
    for record in (POLITE[0], strange):
        assert from_line(to_line(record)) == record
    files = [AccessFile(tmp_path / "log") for _ in range(2)]
    for at, record in enumerate(POLITE):
        files[at % 2].append(record)
    assert list(read_log(tmp_path / "log")) == []
    for file in files:
        file.close()
    with (tmp_path / "log").open("a") as half:
        half.write('{"arrived"')
    assert list(read_log(tmp_path / "log")) == POLITE
