"""The journal's format: torn tails, damage, other versions."""

import os
import struct
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.errors import SchemaError, StoreError
from mannerly.store import JournalStore, Rows, frames, recover
from mannerly.store.frames import Kind, Part
from mannerly.store.layout import Layout
from mannerly.store.read import open_store
from mannerly.store.segments import read_segment
from mannerly.store.tables import FETCHES, PAGES, encode
from tests.unit.store.store_records import StillClock, fetch, page, parquet_hashes, seen

WRITER = 0x7FFF_0000_1234_5678


def small_segment() -> list[bytes]:
    """Frames as a writer of three checkpoints leaves them."""
    written = [frames.header(WRITER, 0)]
    for sequence in (1, 2, 3):
        parts = [
            Part("fetches", 1, encode(FETCHES, [fetch(sequence)])),
            Part("pages", 1, encode(PAGES, [page(sequence)])),
        ]
        written.append(b"".join(frames.batch(sequence, parts)))
        written.append(frames.settled(sequence, {sequence * 100, -sequence}))
    return written


def put(data_dir: Path, data: bytes) -> Path:
    layout = Layout(data_dir)
    layout.make()
    path = layout.segment(WRITER, 1)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_torn_tail_leaves_exactly_the_whole_frames(tmp_path: Path) -> None:
    """At every byte offset."""
    written = small_segment()
    data = b"".join(written)
    ends = [sum(len(frame) for frame in written[:count]) for count in range(len(written) + 1)]
    path = put(tmp_path, data)
    for length in range(len(data), -1, -1):
        os.truncate(path, length)
        whole = sum(end <= length for end in ends) - 1
        segment = read_segment(path, WRITER, 1)
        assert (segment.size, segment.torn) == (ends[whole], length > ends[whole])
        assert sorted(segment.batches) == list(range(1, whole // 2 + 1))
        assert sorted(segment.marks) == list(range(1, (whole - 1) // 2 + 1))
        assert all(segment.marks[n] == {n * 100, -n} for n in segment.marks)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_flipped_bit_ends_the_segment_there(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    written = small_segment()
    whole = bytearray(b"".join(written))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= 1 << data.draw(st.integers(0, 7))
    ends = list(accumulate(len(frame) for frame in written))
    before = sum(end <= at for end in ends)
    path = put(tmp_path_factory.mktemp("flip"), bytes(whole))
    segment = read_segment(path, WRITER, 1)
    assert segment.size == [0, *ends][before]
    assert len(segment.batches) == before // 2


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_garbage_after_the_frames_is_no_frame(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes
) -> None:
    data = b"".join(small_segment())
    path = put(tmp_path_factory.mktemp("tail"), data + tail)
    assert read_segment(path, WRITER, 1).size == len(data)


def test_a_tail_of_zeros_or_of_an_endless_frame_is_torn(tmp_path: Path) -> None:
    data = b"".join(small_segment())
    for tail in (bytes(5000), struct.pack("<4sBQQQ", b"Mjrn", 2, 4, 2**63, 0) + bytes(100)):
        path = put(tmp_path, data + tail)
        segment = read_segment(path, WRITER, 1)
        assert (segment.size, segment.torn) == (len(data), True)


def test_readers_see_what_is_settled_before_the_tear(tmp_path: Path) -> None:
    put(tmp_path, b"".join(small_segment())[:-1])
    assert seen(tmp_path) == [1, 2]
    recover(tmp_path, {WRITER: (3, frozenset({1}))}.get, writers=[WRITER])
    assert parquet_hashes(tmp_path) == [1, 2], "the third was refused as the frontier says"


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    newer = frames._frame(Kind.HEADER, 0, struct.pack("<IQ", frames.VERSION + 1, WRITER) + b"more")
    path = put(tmp_path, newer + b"whatever comes then")
    with pytest.raises(SchemaError, match="use the newer one"):
        open_store(tmp_path)
    with pytest.raises(SchemaError):
        recover(tmp_path, {WRITER: (3, frozenset[int]())}.get, writers=[WRITER])
    assert path.exists()


def test_a_segment_of_another_writer_is_refused(tmp_path: Path) -> None:
    put(tmp_path, frames.header(WRITER + 1, 0))
    with pytest.raises(StoreError, match="put it back"):
        open_store(tmp_path)


def test_a_batch_that_reads_back_differently_is_not_rolled(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, 7, clock=StillClock())
    store.write(1, Rows([fetch(1)], [page(1)]))
    store.settle(1, [])
    path = Layout(tmp_path).segment(7, 1)
    damaged = bytearray(path.read_bytes())
    damaged[400] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match="check the disk"):
        store.roll(force=True)
    assert path.exists()
    assert list((tmp_path / "pages").iterdir()) == list((tmp_path / "fetches").iterdir()) == []
    with pytest.raises(StoreError, match="check the disk"):
        store.close()
    report = recover(tmp_path, {7: (1, frozenset[int]())}.get, writers=[7])
    assert (report.batches_missing, report.batches_kept) == (1, 0)
    assert [kept.read_bytes() for kept in report.set_aside] == [damaged]


def test_what_a_server_sent_is_no_frame(tmp_path: Path) -> None:
    """Not even where the disk has damaged the batch that it lies in."""
    forged = frames.settled(9, [])
    batch = bytearray(frames._frame(Kind.BATCH, 1, b"a robots.txt: " + forged + b"!"))
    batch[-1] ^= 1
    after = frames.settled(1, [])
    path = put(tmp_path, frames.header(WRITER, 0) + bytes(batch) + after)
    with path.open("rb") as file:
        found = [(it.kind, it.sequence) for it in frames.scan(file.fileno(), past_damage=True)]
    assert found == [(Kind.HEADER, 0), (Kind.SETTLED, 1)]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), None])
def test_an_instant_that_is_none_is_refused(tmp_path: Path, wrong: Any) -> None:
    store = JournalStore(tmp_path, 7, clock=StillClock())
    with pytest.raises((ValueError, TypeError)):
        store.write(1, Rows([fetch(1)._replace(fetched_at=wrong)]))
    store.close()
