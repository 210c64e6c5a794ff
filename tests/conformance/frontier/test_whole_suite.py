"""Nothing of the suite is left out, here or where one module pulls in several topics."""

import pkgutil
from collections import Counter
from importlib import import_module
from pathlib import Path

from mannerly.frontier import conformance
from mannerly.frontier.conformance import TOPICS


def names_in(topic: str) -> set[str]:
    module = import_module(f"{conformance.__name__}.{topic}")
    return {name for name in vars(module) if name.startswith("test_")}


def test_every_topic_has_tests_and_is_pulled_in() -> None:
    here = Path(__file__).parent
    for topic in TOPICS:
        assert names_in(topic)
        assert f"conformance.{topic} import *" in (here / f"test_{topic}.py").read_text()


def test_every_module_with_tests_is_a_topic() -> None:
    modules = {it.name for it in pkgutil.iter_modules(conformance.__path__)}
    assert {name for name in modules if names_in(name)} == set(TOPICS)


def test_no_test_hides_another_of_the_same_name() -> None:
    names = Counter(name for topic in TOPICS for name in names_in(topic))
    assert [name for name, times in names.items() if times > 1] == []
