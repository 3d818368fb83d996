"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ("lanes", "postgres", "spark")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands that tests start are compiled once, not every time


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of real datasets: $PACAS_DATA, or the one beside the project."""
    directory = Path(os.environ.get("PACAS_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not directory.is_dir():
        pytest.skip("no real datasets here; set PACAS_DATA to their directory")
    return directory
