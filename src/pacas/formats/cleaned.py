"""A cleaned table as a file, of the same kind as the one it came from; what was not repaired stays byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pacas.client.cleaning import Cleaning
from pacas.core.histogram import Ints
from pacas.engine.contract import RelationFile
from pacas.errors import FileError
from pacas.formats.changed_table import write_changed
from pacas.formats.patched_csv import Change
from pacas.formats.relations import COMPRESSED, kind_to_write
from pacas.formats.replacing import check_writable


def default_output(file: RelationFile) -> Path:
    """Where a cleaned table goes if nobody says: beside the table, `client.csv.gz` as `client.clean.csv.gz`."""
    packed = file.path.suffix if file.path.suffix.lower() in COMPRESSED else ""
    name = Path(file.name.removesuffix(packed))
    try:
        kind_to_write(name)
    except FileError:
        return file.path.with_name(f"{file.name}.clean.{file.format}")
    return file.path.with_name(f"{name.stem}.clean{name.suffix}{packed}")


def check_output(path: Path, file: RelationFile) -> None:
    """Raise if the cleaned table could not be written there."""
    kind_to_write(path)
    check_writable(path)
    if path.exists() and path.samefile(file.path):
        raise FileError(f"{path} is the table itself; give another --output, and the table stays as it is")


def write_cleaned(cleaning: Cleaning, file: RelationFile, path: Path) -> None:
    """Write a cleaned table; `path` holds all of it or is as it was."""
    write_changed(file, len(cleaning.dirty), _changes(cleaning), lambda: cleaning.relation, path)


def _changes(cleaning: Cleaning) -> dict[int, list[Change]]:
    """The cells that are others than they were, by row."""
    changes: dict[int, list[Change]] = {}
    for attribute, rows in _repaired(cleaning).items():
        column = cleaning.dirty.columns.index(attribute)
        before, after = (r.table.column(column).take(rows).to_pylist() for r in (cleaning.dirty, cleaning.relation))
        for row, old, new in zip(rows.tolist(), before, after, strict=True):
            if old != new:
                changes.setdefault(row, []).append(Change(column, old, new))
    return changes


def _repaired(cleaning: Cleaning) -> Mapping[str, Ints]:
    rows: dict[str, list[Ints]] = {}
    for repair in cleaning.repairs:
        rows.setdefault(repair.attribute, []).append(repair.written)
    return {attribute: np.unique(np.concatenate(parts)) for attribute, parts in rows.items()}
