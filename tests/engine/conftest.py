"""What tests of engines share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parquet_folders import write


@pytest.fixture(params=["in order", "shuffled"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    ids = list(range(6)) if request.param == "in order" else [4, 1, 5, 0, 3, 2]
    rows: dict[str, list[Any]] = {"ID": ids, "A": [f"a{n}" for n in ids], "N": [10 * n for n in ids]}
    parts = {f"{i}.parquet": {c: v[2 * i : 2 * i + 2] for c, v in rows.items()} for i in range(3)}
    return write(tmp_path / "people", parts)
