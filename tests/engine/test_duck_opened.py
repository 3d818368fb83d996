"""A file that DuckDB has read is not read again while it stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pacas
from pacas.engine.duck.engine import DuckEngine


def write(path: Path, values: list[str]) -> None:
    if path.suffix == ".csv":
        path.write_text("\n".join(["A,B", *(f"{i},{value}" for i, value in enumerate(values))]) + "\n")
    else:
        pq.write_table(pa.table({"A": list(range(len(values))), "B": values}), path)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_stays_as_it_is_is_opened_once_for_the_same_columns(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, ["x", "y"])
    engine = DuckEngine()
    first, again = (engine.open(pacas.scan_relation(tmp_path / name), ["B"]) for _ in range(2))
    assert first is again
    assert engine.open(pacas.scan_relation(tmp_path / name), ["A", "B"]) is not first
    assert engine.columns(again, ["B"])["B"].values == ["x", "y"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_one_that_has_changed_is_read_again(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, ["x", "y"])
    engine = DuckEngine()
    engine.columns(engine.open(pacas.scan_relation(tmp_path / name), ["B"]), ["B"])
    write(tmp_path / name, ["x", "y", "z"])
    changed = engine.open(pacas.scan_relation(tmp_path / name), ["B"])
    assert len(changed) == 3 and engine.columns(changed, ["B"])["B"].values == ["x", "y", "z"]


def test_with_limited_memory_nothing_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", ["x", "y"])
    engine: Any = DuckEngine(memory="1GB")
    first, again = (engine.open(pacas.scan_relation(tmp_path / "t.csv"), ["B"]) for _ in range(2))
    assert first is not again
