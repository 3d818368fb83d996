"""What a value of a DuckDB column is: its text, decided here for files, folders and tables in memory alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from pacas.engine.sql.statements import ROW, column_name, literal


def text_of(column: str, sql_type: str) -> str:
    """A column as text; an empty one is null, and a float's whole numbers are whole numbers."""
    if sql_type == "VARCHAR":
        return f"nullif({column}, '')"
    if sql_type in ("DOUBLE", "FLOAT"):
        whole = f"{column} = trunc({column}) AND abs({column}) < 1e15"
        text = f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {text} END"
    return f"nullif({column}::VARCHAR, '')"


def create_view(
    connection: duckdb.DuckDBPyConnection, name: str, scan: str, row: str, columns: Sequence[tuple[str, str]]
) -> None:
    """Columns (as SQL names them, and their types) of a scan as `name`(row_number, c0, c1, …) of texts."""
    texts = "".join(f", {text_of(column, type_)} AS {column_name(i)}" for i, (column, type_) in enumerate(columns))
    connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {row} AS {ROW}{texts} FROM {scan}")


def file_literal(path: Path) -> str:
    """A file's very name: DuckDB would take *, ? and [ for patterns."""
    return literal(re.sub(r"[*?\[]", r"[\g<0>]", str(path)))
