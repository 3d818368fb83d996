"""Folders of Parquet files, written, and read as DuckDB reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.folder import scan_folder

ENGINE = DuckEngine(threads=2)


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    for name, table in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), path)
    return folder


def texts(folder: Path, *key: str, columns: Sequence[str] | None = None) -> dict[str, list[str | None]]:
    table = ENGINE.open(scan_folder(folder, key), columns)
    found: dict[str, list[str | None]] = ENGINE.rows(table, None, table.columns).to_pydict()
    return found
