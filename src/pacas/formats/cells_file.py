"""Cells that another error detector has named: a table with the columns `row` and `attribute`, rows counted from 0."""

from __future__ import annotations

from pathlib import Path

from pacas.errors import FileError, SchemaError
from pacas.formats.relations.relations import read_relation

COLUMNS = ("row", "attribute")


def read_cells(path: Path) -> list[tuple[int, str]]:
    """The named cells; whether the client's table has them is for the cleaning to check."""
    relation = read_relation(path)
    for column in COLUMNS:
        if column not in relation.columns:
            raise SchemaError.missing(column, relation.columns, path.name)
    rows, attributes = (relation.table.column(column).to_pylist() for column in COLUMNS)
    return [_cell(row, attribute, path, n) for n, (row, attribute) in enumerate(zip(rows, attributes, strict=True))]


def _cell(row: object, attribute: object, path: Path, number: int) -> tuple[int, str]:
    text = "" if row is None else str(row).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise FileError(f"{path.name}, cell {number + 1}: a row is a number from 0 on, not {text[:40]!r}")
    if attribute is None:
        raise FileError(f"{path.name}, cell {number + 1}: the attribute is missing")
    return int(text), str(attribute)
