"""Suggestions: dependencies of a table of a million rows, beside DuckDB reading it."""

from __future__ import annotations

import statistics
from contextlib import closing
from pathlib import Path

import duckdb
import measure
import numpy as np
import pyarrow as pa
import pyarrow.csv

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.suggest.coded_table import CodedTable

COLUMNS = 30
ERRORS = 0.03
"""Share of wrong values on each right side."""
INTRODUCTION = f"""
`pacas.suggest_dependencies` on a CSV file of {COLUMNS} columns: an entity of a key and six attributes, chains among
them, a price that two columns determine, and others drawn by themselves; {ERRORS:.0%} of each right side is wrong.
Beside it DuckDB reads the same file into a table. *Read* is the table as codes, which every suggestion starts from;
*search* is left sides of one attribute and of two. Samples bound the search, so that its share falls with the rows.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows = 100_000 if small else 1_000_000
    path = file(folder, rows)
    duck: list[float] = []
    read: list[float] = []
    search: list[float] = []
    for turn in range(2 if small else 4):
        beside = measure.seconds(lambda: _read(path))
        with closing(DuckEngine()) as engine:
            reading = measure.seconds(lambda: CodedTable.read(engine, pacas.scan_relation(path)))
            coded = CodedTable.read(engine, pacas.scan_relation(path))
            searching = measure.seconds(lambda: pacas.suggest_dependencies(coded))  # noqa: B023
        if turn:
            for taken, seconds in ((duck, beside), (read, reading), (search, searching)):
                taken.append(seconds)
    ours = [statistics.median(times) for times in (duck, read, search)]
    return "\n".join(["## Suggestions", "", INTRODUCTION, "", *_table(rows, *ours), "", *_memory(path)])


def _table(rows: int, duck: float, read: float, search: float) -> list[str]:
    return [
        "| table | DuckDB | read | search | search : DuckDB | all : DuckDB | target |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        f"| {rows:,} × {COLUMNS} | {duck:.2f} s | {read:.2f} s | {search:.2f} s | {search / duck:.2f} "
        f"| {(read + search) / duck:.2f} | ≤ 2 |",
    ]


def _memory(path: Path) -> list[str]:
    code = "import sys, pacas; print(pacas.suggest_dependencies(pacas.scan_relation(sys.argv[1])))"
    peak, size = measure.peak_memory(code, str(path)) / 2**20, path.stat().st_size / 2**20
    return [f"Peak memory of a process that reads and searches it: {peak:,.0f} MiB; the CSV file has {size:,.0f} MiB."]


def _read(path: Path) -> None:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}', all_varchar = true)")


def file(folder: Path, rows: int) -> Path:
    """The table as a file, made once."""
    path = folder / f"suggest-{rows}x{COLUMNS}.csv"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pyarrow.csv.write_csv(table(rows), path)
    return path


def table(rows: int, seed: int = 7) -> pa.Table:
    rng = np.random.default_rng(seed)
    shop, product = rng.integers(0, max(rows // 25, 4), rows), rng.integers(0, 300, rows)
    zip_ = _determined(rng, shop, 3_000)
    city = _determined(rng, zip_, 1_200)
    codes = {
        "shop": shop,
        "name": _determined(rng, shop, rows // 25),
        "phone": _determined(rng, shop, rows // 25),
        "kind": _determined(rng, shop, 12),
        "zip": zip_,
        "city": city,
        "state": _determined(rng, city, 50),
        "product": product,
        "label": _determined(rng, product, 300),
        "month": rng.integers(0, 12, rows),
    }
    codes["price"] = _determined(rng, 12 * product + codes["month"], 400)
    others = {f"other{i}": rng.integers(0, 3 + 5 * i * i, rows) for i in range(COLUMNS - len(codes))}
    return pa.table({name: _texts(name, column) for name, column in (codes | others).items()})


def _determined(rng: np.random.Generator, left: np.ndarray, values: int) -> np.ndarray:
    right = rng.integers(0, values, int(left.max()) + 1)[left]
    wrong = rng.random(len(left)) < ERRORS
    right[wrong] = rng.integers(0, values, int(wrong.sum()))
    return right


def _texts(name: str, codes: np.ndarray) -> pa.Array:
    return pa.array([f"{name} {i}" for i in range(int(codes.max()) + 1)]).take(pa.array(codes))
