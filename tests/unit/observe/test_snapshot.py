"""Snapshots: JSON and back, and several as one."""

import dataclasses
import json
from typing import Any

from mannerly.observe.durations import Durations
from mannerly.observe.snapshot import Counts, Example, LatestPage, Snapshot, summed


def snapshot(number: int) -> Snapshot:
    """One in which every number is its own."""
    durations = Durations()
    durations.note(0.1 * number)
    values: dict[str, Any] = {
        field.name: 1000 * number + index
        for index, field in enumerate(dataclasses.fields(Snapshot))
        if field.type in {int, float}
    }
    return Snapshot(
        **values,
        ending="because" if number == 2 else "",
        settled={"fetched": number, "broken": 1},
        cpu_s={"parse": 0.5 * number},
        durations=durations,
        operations={"lease": (number, 0.5, 0.1 * number)},
        counts=Counts(sites=number, urls_known=10 * number),
        latest=[
            LatestPage("https://a.test/", "a.test", f"<b>{number}</b>", "…", 200, number, 0.1, 9)
        ],
        examples={"broken": [Example("https://a.test/x", 0, "cut off", number)] * 4},
    )


def test_json_and_back() -> None:
    one = snapshot(1)
    text = json.dumps(one.document())
    assert Snapshot.of_document(json.loads(text)) == one
    newer = {**json.loads(text), "unheard_of": 1}
    assert Snapshot.of_document(newer) == one, "of a newer version what is known is read"


def test_several_processes_are_one() -> None:
    one, two = snapshot(1), snapshot(2)
    both = summed([one, two])
    for field in dataclasses.fields(Snapshot):
        mine = getattr(both, field.name)
        parts = getattr(one, field.name), getattr(two, field.name)
        if field.type in {int, float}:
            expected = {"at", "elapsed_s", "lag_s", "database_s", "store_s"}
            limits = {"max_pages", "max_duration_s"}
            assert mine == (max(parts) if field.name in expected | limits else sum(parts)), field
    assert both.settled == {"fetched": 3, "broken": 2}
    assert both.pages == 3
    assert both.cpu_s == {"parse": 1.5}
    assert both.durations.count == 2
    assert both.operations == {"lease": (3, 1.0, 0.2)}
    assert both.ending == "because"
    assert not both.ended
    assert both.counts == two.counts, "of the whole crawl, so it is not added"
    assert [page.title for page in both.latest] == ["<b>2</b>", "<b>1</b>"]
    assert [it.fetched_at for it in both.examples["broken"]] == [2, 2, 2, 2, 1]
    assert summed([]).processes == 0
    assert summed([dataclasses.replace(one, ended=True)] * 2).ended


def test_percentiles_lie_between_the_bounds_and_can_be_told_apart_over_time() -> None:
    durations = Durations()
    assert durations.percentile_s(0.5) == 0
    for number in range(100):
        durations.note(0.16 if number < 90 else 4.0)
    before = durations.copy()
    assert 0.15 < durations.percentile_s(0.5) < 0.2
    assert 3.0 < durations.percentile_s(0.95) <= 5.0
    durations.note(1000.0)
    assert durations.since(before).count == 1
    assert durations.since(before).percentile_s(0.5) > 60.0
