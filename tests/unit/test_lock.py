"""What is pinned can be installed with the Python that README names."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
DEBIAN_12 = "3.11.2"
"""The oldest Python that a fresh Debian machine brings."""
PINS = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)


def test_there_are_pins() -> None:
    assert len(PINS) > 50


@pytest.mark.parametrize(("name", "version"), PINS)
def test_a_pin_is_for_debian_s_python(name: str, version: str) -> None:
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        pytest.skip("it is for other systems")
    assert found["Version"] == version, "run `make setup`"
    assert SpecifierSet(found["Requires-Python"] or "").contains(DEBIAN_12)


@pytest.mark.parametrize(("name", "version"), PINS)
def test_what_a_pin_needs_there_is_pinned_too(name: str, version: str) -> None:
    """Also what it needs below some version only."""
    del version
    pinned = {canonicalize_name(pin) for pin, _ in PINS}
    there = {"python_full_version": DEBIAN_12, "python_version": "3.11", "extra": ""}
    try:
        needs = [Requirement(need) for need in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        pytest.skip("it is for other systems")
    wanted = {
        canonicalize_name(need.name)
        for need in needs
        if need.marker is None or need.marker.evaluate(there)
    }
    assert wanted <= pinned
