"""How much waits for a checkpoint, and how much may."""

import pytest

from mannerly.config import build
from mannerly.engine.ledger import Ledger
from mannerly.engine.plan import EnginePlan
from tests.unit.store.store_records import page

MIB = 2**20


@pytest.mark.parametrize(("character", "size"), [("a", 1), ("č", 2), ("🙂", 4)])
def test_texts_count_as_what_they_take_in_memory(character: str, size: int) -> None:
    ledger = Ledger()
    ledger.store(page(1, text="a" * 9_999 + character))
    assert size * 10_000 <= ledger.text_bytes < size * 10_000 + 1000
    ledger.store(page(2, text="", main_text="a" * 10_000))
    assert ledger.text_bytes > (size + 1) * 10_000


@pytest.mark.parametrize(
    ("limit", "batch"), [(0, 32 * MIB), (400 * MIB, 400 * MIB // 32), (4096 * MIB, 32 * MIB)]
)
def test_where_memory_is_little_a_batch_is(limit: int, batch: int) -> None:
    plan = EnginePlan.of(build({"memory_limit": limit}), 10)
    assert plan.batch_bytes == batch
