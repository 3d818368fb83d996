"""A folder of Parquet files as one relation: which files count, what their folders' names add, and the key.

Files and folders whose names begin with a dot or an underscore are hidden, as they are to Spark. A folder inside is a
partition, named `column=value`: its rows all have that value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from pacas.core.relation import check_columns
from pacas.engine.contract import RelationFolder
from pacas.errors import FileError, InputError, SchemaError

DELTA = "_delta_log"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a partition of nulls is named by."""
OURS = ("filename", "file_row_number", "file_index")
"""Names under which DuckDB tells of a row where it stands."""

_PARTITION = re.compile(r"([^=]+)=(.*)")
_KINDS = {
    "BIGINT": re.compile(r"[+-]?\d{1,18}"),
    "DOUBLE": re.compile(r"[+-]?(\d{1,15}|\d{1,15}\.\d*|\.\d+)([eE][+-]?\d{1,2})?"),
    "DATE": re.compile(r"\d{4}-\d{2}-\d{2}"),
}
"""What the values of a partition's name are, by what all of them look like; otherwise text."""


def scan_folder(path: str | Path, key: Sequence[str]) -> RelationFolder:
    """A folder of Parquet files, checked to be readable, and the key that numbers its rows; the rows are left there."""
    folder = Path(path)
    if folder.name in ("", ".."):  # "." has no name to be called by
        folder = folder.resolve()
    files = parquet_files(folder)
    if not key:
        raise InputError(
            f"{folder.name} needs a key: the columns that tell its rows apart, and so number them; "
            'give key = "ID" in the file, or --key ID'
        )
    columns = _columns(folder, files)
    check_columns(columns, folder.name)
    for column in key:
        if column not in columns:
            raise SchemaError.missing(column, columns, folder.name)
    return RelationFolder(folder, tuple(columns), tuple(key))


def parquet_files(folder: Path) -> list[Path]:
    """The files of a folder that hold its rows, by name."""
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist"
        raise FileError(f"{folder} {problem}; give a folder of Parquet files, or a CSV, TSV or Parquet file")
    if (folder / DELTA).is_dir():
        raise InputError(
            f"{folder} is a Delta table, whose log says which of its files count; read it on Spark: "
            'engine = "spark" in the file, or --engine spark'
        )
    files, others = _visible(folder)
    if not files:
        raise FileError(f"{folder} is a folder without Parquet files; give one with some, their names end in .parquet")
    if others:
        inside = min(others).relative_to(folder)
        raise FileError(f"{folder} has Parquet files in {inside}, which is no partition (column=value); take them out")
    return sorted(files)


def _visible(folder: Path) -> tuple[list[Path], list[Path]]:
    """The Parquet files in a folder and its partitions; and further folders in it that hold some."""
    try:
        entries = [entry for entry in folder.iterdir() if not _is_hidden(entry.name)]
    except OSError as error:
        raise FileError(f"{folder} cannot be read ({error.strerror})") from None
    inside = [entry for entry in entries if entry.is_dir()]
    files = [entry for entry in entries if entry.suffix == ".parquet" and entry not in inside]
    others = [entry for entry in inside if not _PARTITION.fullmatch(entry.name) and any(entry.rglob("*.parquet"))]
    for entry in inside:
        if _PARTITION.fullmatch(entry.name):
            more_files, more_others = _visible(entry)
            files += more_files
            others += more_others
    return files, others


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def partition(folder: Path, file: Path) -> dict[str, str | None]:
    """What the names of the folders that a file is in say of its rows.

    >>> partition(Path("people"), Path("people/YEAR=2026/ZIP=__HIVE_DEFAULT_PARTITION__/part-0.parquet"))
    {'YEAR': '2026', 'ZIP': None}
    """
    named = [part.partition("=") for part in file.relative_to(folder).parts[:-1]]
    return {unquote(column): None if value == NO_VALUE else unquote(value) for column, _, value in named}


def partition_kinds(folder: Path, files: Sequence[Path]) -> dict[str, str]:
    """The columns that folders' names give, and DuckDB's type of each: a number or a date where all look like it."""
    found = [partition(folder, file) for file in files]
    return {column: _kind([values[column] for values in found]) for column in found[0]}


def _kind(values: Iterable[str | None]) -> str:
    given = {value for value in values if value is not None}
    fitting = (kind for kind, looks in _KINDS.items() if given and all(looks.fullmatch(value) for value in given))
    return next(fitting, "VARCHAR")


def _columns(folder: Path, files: Sequence[Path]) -> list[str]:
    """The columns that all files have, then those of the partitions."""
    first, shape = _shape(files[0])
    levels = list(partition(folder, files[0]))
    for file in files[1:]:
        if sorted(_shape(file)[1]) != sorted(shape):
            raise SchemaError(
                f"{file.relative_to(folder)} in {folder.name} has other columns or types than "
                f"{files[0].relative_to(folder)}; write them alike"
            )
        if list(partition(folder, file)) != levels:
            raise SchemaError(f"{file.relative_to(folder)} in {folder.name} is in other partitions than the rest")
    for level in levels:
        if level.lower() in map(str.lower, first):
            raise SchemaError(f"column {level!r} of {folder.name} is in its files and in its folders' names; drop one")
    for column in [*first, *levels]:
        if column.lower() in OURS:
            raise SchemaError(f"column {column!r} of {folder.name} has a name that DuckDB needs; rename it")
    return [*first, *levels]


def _shape(file: Path) -> tuple[list[str], list[tuple[str, str, str]]]:
    """A file's columns, and all that they are made of."""
    try:
        schema = pq.read_metadata(file).schema
        parts = [schema.column(i) for i in range(len(schema))]
        return schema.to_arrow_schema().names, [(p.path, p.physical_type, str(p.logical_type)) for p in parts]
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise FileError(f"{file} is not a complete Parquet file; write it again, or take it out") from None
