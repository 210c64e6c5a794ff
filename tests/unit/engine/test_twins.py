"""Pages that repeat others: exactly, nearly, but for their numbers."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.engine import twins as twins_module
from mannerly.engine.twins import NO_TWIN, Likeness, Twin, Twins
from mannerly.parse.simhash import NEAR_BITS, TextPrint, distance, text_print
from mannerly.url import url_hash

hashes = st.integers(-(2**63), 2**63 - 1)
CHANCE = random.Random(5)
WORDS = ["".join(CHANCE.choices("etaoinshrdlu", k=CHANCE.randint(2, 9))) for _ in range(2000)]


def meet(twins: Twins, url: str, text: str, site: str = "a.example") -> Twin:
    return twins.meet(site, url_hash(url), url_hash(text), text_print(text))


def words(seed: int, count: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)


def test_the_same_bytes_and_almost_the_same_words() -> None:
    twins = Twins()
    text = words(1)
    assert meet(twins, "/1", " ".join(text)) == NO_TWIN
    assert meet(twins, "/2", " ".join(words(2))) == NO_TWIN
    first = url_hash("/1")
    assert meet(twins, "/3", " ".join(text)) == (Likeness.EXACT, first)
    text[200] = "other"
    assert meet(twins, "/4", " ".join(text)) == (Likeness.NEAR, first)
    assert meet(twins, "/5", " ".join(text)) == (Likeness.NEAR, first)
    assert meet(twins, "/6", " ".join(words(1)), "b.example") == NO_TWIN


def test_pages_that_differ_in_their_numbers() -> None:
    twins = Twins()
    assert meet(twins, "/0", "the 10 of 2025: 1 2 3 4 5") == NO_TWIN
    twin = meet(twins, "/1", "the 11 of 2026: 81 82 83 84 85")
    assert twin == (Likeness.BUT_FOR_DIGITS, url_hash("/0"))


def test_a_page_is_not_its_own_twin() -> None:
    twins = Twins()
    for _ in range(3):
        assert meet(twins, "/1", " ".join(words(1))) == NO_TWIN


def test_pages_without_text_are_not_compared_by_it() -> None:
    twins = Twins()
    assert text_print("").simhash == text_print(" \n").simhash == 0
    assert twins.meet("a", 1, 10, TextPrint(0, 5)) == NO_TWIN
    assert twins.meet("a", 2, 11, TextPrint(0, 5)) == NO_TWIN
    assert twins.meet("a", 3, 12, TextPrint(1, 6)) == NO_TWIN
    assert twins.meet("a", 4, 10, TextPrint(0, 5)) == (Likeness.EXACT, 1)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins_module, "PAGES_A_SITE", 16)
    twins = Twins(pages=40)
    chance = random.Random(1)
    for n in range(1, 500):
        twins.meet(f"site{n % 9}", n, n, TextPrint(chance.getrandbits(63), n))
        assert len(twins) <= 40 + 16
    # The latest of a site are known, the oldest are not.
    assert twins.meet("site4", 1000, 499, TextPrint(1, 1)) == (Likeness.EXACT, 499)
    twins.meet("alone", 1, -1, TextPrint(chance.getrandbits(63), 0))
    for n in range(2, 20):
        twins.meet("alone", n, -n, TextPrint(chance.getrandbits(63), -n))
    assert twins.meet("alone", 1000, -19, TextPrint(1, 1)) == (Likeness.EXACT, 19)
    assert twins.meet("alone", 1000, -2, TextPrint(1, 1)) == NO_TWIN


@given(st.lists(st.tuples(hashes, hashes, hashes), max_size=30))
def test_what_is_named_is_alike_and_was_first(rows: list[tuple[int, int, int]]) -> None:
    twins = Twins()
    seen: dict[int, tuple[int, int, int]] = {}
    for url, row in enumerate(rows, 1):
        likeness, first = twins.meet("site", url, row[0], TextPrint(*row[1:]))
        if likeness is Likeness.NONE:
            assert first == 0
            assert all(row[0] != other[0] for other in seen.values())
            seen[url] = row
            continue
        match likeness:
            case Likeness.EXACT:
                assert seen[first][0] == row[0]
            case Likeness.NEAR:
                assert distance(seen[first][1], row[1]) <= NEAR_BITS
            case _:
                assert seen[first][2] == row[2]


@given(st.text(), st.text(max_size=10))
def test_any_text_has_a_print(text: str, more: str) -> None:
    simhash, rest = text_print(text)
    assert -(2**63) <= simhash < 2**63
    assert -(2**63) <= rest < 2**63
    assert text_print(text) == (simhash, rest)
    assert distance(simhash, simhash) == 0
    assert 0 <= distance(simhash, text_print(text + more).simhash) <= 64


@pytest.mark.parametrize("size", [300, 3_000, 30_000])
def test_few_words_change_few_bits(size: int) -> None:
    """At every length: short texts are taken whole, long ones by a sample."""
    text = words(size, size)
    changed = [*text]
    for at in range(0, size, max(1, size // 4)):
        changed[at] = "other"
    near = distance(text_print(" ".join(text)).simhash, text_print(" ".join(changed)).simhash)
    far = distance(text_print(" ".join(text)).simhash, text_print(" ".join(words(1, size))).simhash)
    assert near <= 8
    assert far > 15


def test_a_script_without_spaces() -> None:
    chance = random.Random(3)
    text = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(800))
    other = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(800))
    one = text_print(text).simhash
    assert distance(one, text_print(text[:400] + "\u4e00" + text[401:]).simhash) <= 6
    assert distance(one, text_print(other).simhash) > 15
