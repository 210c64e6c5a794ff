"""Where the cases written by others are found; they are no part of this project."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def suites() -> Path:
    """The folder of external cases: `MANNERLY_SUITES`, or `../shared/suites`."""
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("MANNERLY_SUITES", root.parent / "shared" / "suites"))
    if not folder.is_dir():
        pytest.skip(f"external cases not found: {folder} (set MANNERLY_SUITES)")
    return folder
