"""A cleaned table, of the same kind as the one it came from; what was not repaired stays as it was.

A text keeps every other byte, a Parquet file its types, both copied a piece at a time; a folder or a table of an
engine's is written by that engine.
"""

from __future__ import annotations

from pathlib import Path

from pacas.client.outcome.cleaning import Cleaning
from pacas.engine.contract import RelationFile, RelationFolder, Source
from pacas.engine.files.excel import excel_writer
from pacas.errors import FileError
from pacas.formats.relations.changed_csv import Change, write_changed
from pacas.formats.relations.changed_excel import write_changed_sheet
from pacas.formats.relations.changed_parquet import write_changed_parquet
from pacas.formats.relations.relations import COMPRESSED, EXCEL, PARQUET, kind_to_write
from pacas.formats.replacing import check_writable


def default_output(source: Source) -> Path:
    """Where a cleaned table goes if nobody says: beside the table, `client.csv.gz` as `client.clean.csv.gz`."""
    if isinstance(source, RelationFolder):
        return source.path.with_name(f"{source.path.name}.clean")
    if not isinstance(source, RelationFile):
        raise FileError(f"{source.name} has no place on this disk; say with --output which folder the result goes to")
    packed = source.path.suffix if source.path.suffix.lower() in COMPRESSED else ""
    name = Path(source.name.removesuffix(packed))
    try:
        kind_to_write(name)
    except FileError:
        return source.path.with_name(f"{source.name}.clean.{'xlsx' if source.format == EXCEL else source.format}")
    return source.path.with_name(f"{name.stem}.clean{name.suffix}{packed}")


def check_output(path: Path, source: Source, *, again: bool = False) -> None:
    """Raise if the cleaned table could not be written there. `again` says that an earlier run has written it."""
    if isinstance(source, RelationFile):
        if kind_to_write(path) == EXCEL:
            excel_writer()
        check_writable(path)
        if path.exists() and path.samefile(source.path):
            raise FileError(f"{path} is the table itself; give another --output, and the table stays as it is")
        return
    if isinstance(source, RelationFolder) and path.resolve().is_relative_to(source.path.resolve()):
        raise FileError(f"{path} is the table itself, or in it; give another --output, and the table stays as it is")
    if not path.exists():
        check_writable(path)
    elif not again and (not path.is_dir() or any(path.iterdir())):
        raise FileError(f"{path} is there already; {source.name} is written as a new folder: give another --output")


def write_cleaned(cleaning: Cleaning, path: Path) -> str | None:
    """Write a cleaned table; `path` holds all of it or is as it was. A remark is returned, if there is one."""
    source = cleaning.source
    if not isinstance(source, RelationFile):
        cleaning.write(path, replace=True)
    elif source.format == PARQUET:
        engine = cleaning.engine
        write_changed_parquet(source, cleaning.changes, engine, path, lambda: engine.check_unchanged(cleaning.table))
    elif source.format == kind_to_write(path) == EXCEL:
        write_changed_sheet(source, _by_row(cleaning), path)
    else:
        return write_changed(source, cleaning.rows, _by_row(cleaning), lambda: cleaning.relation, path)
    return None


def _by_row(cleaning: Cleaning) -> dict[int, list[Change]]:
    """The cells that are others than they were, by row."""
    by_row: dict[int, list[Change]] = {}
    for attribute, changes in cleaning.changes.items():
        column = cleaning.columns.index(attribute)
        for row, old, new in zip(changes.rows.tolist(), changes.old, changes.new, strict=True):
            by_row.setdefault(row, []).append(Change(column, old, new))
    return by_row
