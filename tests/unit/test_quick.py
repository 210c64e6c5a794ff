"""A named tuple that is made in C is what Python would have made, and so is what goes wrong."""

import pickle
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.quick import quick
from mannerly.records import PageRecord
from tests.compiled import compiled_part


class Plain(NamedTuple):
    one: int
    two: str
    three: tuple[int, ...] = (1, 2)
    four: str = "four"


@quick
class Quick(NamedTuple):
    one: int
    two: str
    three: tuple[int, ...] = (1, 2)
    four: str = "four"


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    compiled_part("_quick")


def made(class_: Any, args: list[object], named: dict[str, object]) -> object:
    try:
        return tuple(class_(*args, **named))
    except TypeError as exc:
        return str(exc).replace("Quick", "Plain")


NAMES = st.sampled_from(["one", "two", "three", "four", "five", "o" + "ne"])


@given(st.lists(st.integers(), max_size=6), st.dictionaries(NAMES, st.text(max_size=3)))
def test_both_ways_give_the_same(args: list[object], named: dict[str, object]) -> None:
    assert made(Quick, args, named) == made(Plain, args, named)


def test_names_that_are_not_interned() -> None:
    name = "".join(["t", "wo"])
    assert Quick(1, **{name: "x"}) == (1, "x", (1, 2), "four")  # type: ignore[arg-type]


def test_it_is_a_named_tuple() -> None:
    it = Quick(1, four="x", two="y")
    assert type(it) is Quick
    assert (it.one, it.two, it.three, it.four) == (1, "y", (1, 2), "x")
    assert repr(it) == "Quick(one=1, two='y', three=(1, 2), four='x')"
    assert it._replace(one=2) == (2, "y", (1, 2), "x")
    assert Quick._make([1, "y", (), "x"]) == (1, "y", (), "x")
    assert pickle.loads(pickle.dumps(it)) == it


def test_a_class_that_extends_one_is_its_own() -> None:
    class More(Quick):
        def __new__(cls, one: int) -> "More":
            return super().__new__(cls, one + 1, "more")

    assert More(1) == (2, "more", (1, 2), "four")
    assert type(More(1)) is More


@pytest.mark.parametrize("wrong", [object, dict, tuple, 3, Plain(1, "x")])
def test_other_things_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError):
        compiled_part("_quick").quick(wrong, ("one",), ())
    with pytest.raises(TypeError):
        compiled_part("_quick").quick(Plain, ("one",), (1, 2))


def test_the_largest_one() -> None:
    values = list(range(len(PageRecord._fields)))
    by_name: Any = dict(zip(PageRecord._fields, values, strict=True))
    assert list(PageRecord(**by_name)) == values
