"""Tables of the paper's shapes, made from a seed: two dependencies, a share of tuples with an error in each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pacas.core.hierarchy import Hierarchy

FDS = ("age, status, gender -> drug", "status, timeframe -> condition")
BASELINE = (("age, status, gender", "drug"), ("status, timeframe", "condition"))
ROWS_PER_GROUP = 20
VALUES = {"drug": 73, "condition": 61}
"""The right-hand sides, and how many values each has."""


def hierarchy(name: str) -> Hierarchy:
    """Three levels above the values of a right-hand side: families of five, and the root."""
    return Hierarchy.from_rows([(f"{name}-{i}", f"{name}-family-{i // 5}", "*") for i in range(VALUES[name])])


def table(rows: int, columns: int, dirty: float, per_group: int = ROWS_PER_GROUP, seed: int = 7) -> pa.Table:
    """A relation with groups of about 20 rows in which `dirty` of the tuples have another right-hand side."""
    rng = np.random.default_rng(seed)
    groups = max(rows // per_group, 1)
    side = max(round((groups / 3) ** 0.5), 2)
    age, status, gender = (rng.integers(0, n, rows) for n in (side, side, 3))
    timeframe = rng.integers(0, max(groups // side, 2), rows)
    drug = _determined(rng, VALUES["drug"], dirty, age, status, gender)
    condition = _determined(rng, VALUES["condition"], dirty, status, timeframe)
    named = {
        "age": age,
        "status": status,
        "gender": gender,
        "timeframe": timeframe,
        "drug": drug,
        "condition": condition,
    }
    fillers = {f"filler{i}": rng.integers(0, 5 + 7 * i, rows) for i in range(columns - len(named))}
    return pa.table({name: _texts(name, codes) for name, codes in (named | fillers).items()})


def _determined(rng: np.random.Generator, values: int, dirty: float, *left: np.ndarray) -> np.ndarray:
    parts = (column.astype(np.uint64) * np.uint64(2654435761 + 97 * i) for i, column in enumerate(left))
    mixed = sum(parts, start=np.zeros(len(left[0]), np.uint64))
    right = ((mixed ^ (mixed >> np.uint64(15))) % np.uint64(values)).astype(np.int64)
    wrong = rng.random(len(right)) < dirty
    right[wrong] = rng.integers(0, values, int(wrong.sum()))
    return right


def _texts(name: str, codes: np.ndarray) -> pa.DictionaryArray:
    labels = pa.array([f"{name}-{i}" for i in range(int(codes.max()) + 1)])
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), labels)


def file(
    folder: Path,
    rows: int,
    columns: int,
    dirty: float,
    format_: str,
    general: int = 0,
    per_group: int = ROWS_PER_GROUP,
) -> Path:
    """The table as a file, made once; with `general`, every so many rows hold a family instead of a value."""
    path = folder / f"{rows}x{columns}-{dirty}-{general}-{per_group}.{format_}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = table(rows, columns, dirty, per_group)
        plain = made.cast(pa.schema([(name, pa.string()) for name in made.column_names]))
        for name in VALUES if general else ():
            plain = plain.set_column(plain.column_names.index(name), name, _generalized(plain[name], name, general))
        if format_ == "parquet":
            pq.write_table(plain, path, row_group_size=122_880)
        else:
            pyarrow.csv.write_csv(plain, path)
    return path


def _generalized(column: pa.ChunkedArray, name: str, every: int) -> pa.Array:
    tree = hierarchy(name)
    codes = tree.encode(column.to_pylist())
    codes[::every] = tree.generalize(codes[::every], 1)
    return pa.array(tree.labels, pa.string()).take(pa.array(codes))
