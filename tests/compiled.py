"""The parts that are in C. Where they can be compiled, they have been."""

import shutil
import sysconfig
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest


def compiled_part(name: str) -> ModuleType:
    """`parse._blocks` and so on. The test is skipped where nothing can be compiled."""
    try:
        return import_module(f"mannerly.{name}")
    except ImportError:
        header = Path(sysconfig.get_paths()["include"], "Python.h")
        assert not (shutil.which("cc") and header.exists()), "run `make setup` to compile it"
        pytest.skip("there is no C compiler, or no header of Python's")
