"""Named tuples that are made often, and so should be made fast.

A page becomes a dozen of them, one with forty fields. To call such a class is to run a function in
Python, by way of a tuple and a dictionary of its arguments; `@quick` has it done in C where there
was a compiler at installation (`_quick.c`), with the same results and the same errors.
"""

from typing import NamedTuple, TypeVar, cast

try:
    from mannerly._quick import quick as _quick
except ImportError:

    def _quick(class_: type, fields: tuple[str, ...], defaults: tuple[object, ...], /) -> None:
        """It stays as it is."""


Class = TypeVar("Class", bound=type)


def quick(class_: Class) -> Class:
    """For a class that was made by `NamedTuple`; not for one with a `__new__` of its own."""
    named = cast("type[NamedTuple]", class_)
    _quick(class_, named._fields, tuple(named._field_defaults.values()))
    return class_
