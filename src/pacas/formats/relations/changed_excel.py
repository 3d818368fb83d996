"""A sheet of a workbook with some cells changed: every other cell keeps its value and its type; looks are not kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pacas.engine.contract import RelationFile
from pacas.engine.files.excel import Row, SheetWriter, as_text, sheet_rows
from pacas.errors import FileError
from pacas.formats.relations.changed_csv import Change
from pacas.formats.replacing import replacing


def write_changed_sheet(file: RelationFile, changes: Mapping[int, Iterable[Change]], path: Path) -> None:
    """Write a sheet with its changes, as a workbook of its own; `path` holds all of it or is as it was."""
    rows = sheet_rows(file.path, file.sheet)
    next(rows)
    with replacing(path) as partial, SheetWriter(partial, file.columns, file.sheet) as sheet:
        for number, row in enumerate(rows):
            sheet.write_row(_changed(row, changes[number], file) if number in changes else row)


def _changed(row: Row, changes: Iterable[Change], file: RelationFile) -> Row:
    row = [*row, *[""] * (len(file.columns) - len(row))]
    for change in changes:
        before = as_text(row[change.column])
        if (None if before in file.nulls else before) != change.old:
            raise FileError(f"{file.name} was changed while it was cleaned; begin anew")
        row[change.column] = _typed(change.new, row[change.column])
    return row


def _typed(new: str, old: Any) -> Any:
    """A number where a number stood, if it is one."""
    if isinstance(old, int | float) and not isinstance(old, bool):
        try:
            return float(new) if as_text(float(new)) == new else new
        except ValueError:
            return new
    return new
