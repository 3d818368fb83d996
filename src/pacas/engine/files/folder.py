"""A folder of Parquet files as one relation: which files count, what their folders' names add, and the key.

Files and folders whose names begin with a dot or an underscore are hidden, as they are to Spark. A folder inside is a
partition, named `column=value`: its rows all have that value. In a Delta table the log says all of that.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from pacas.core.relation import check_columns
from pacas.engine.contract import RelationFolder
from pacas.engine.files.delta_lake import DeltaLog, check_logged, is_as_logged, is_delta, last_commit, read_log
from pacas.errors import FileError, InputError, SchemaError

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
_WHOLE = dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER"), "BIGINT")
"""What a Delta table's whole numbers are, where only their looks say it."""


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What a folder holds now."""

    folder: Path
    partitions: dict[Path, dict[str, str | None]]
    """Its files, by name, and the values of each one's partition."""
    kinds: dict[str, str]
    """The columns that partitions give, and DuckDB's type of each."""
    log: DeltaLog | None = None
    """What a Delta table says of itself."""

    @property
    def files(self) -> list[Path]:
        return list(self.partitions)

    def stored_as_logged(self) -> bool:
        """Whether all files have the columns that a log says; those of a plain folder were seen to be alike."""
        return self.log is None or all(is_as_logged(schema_of(file), self.log) for file in self.partitions)

    def named_as_logged(self) -> bool:
        """Whether the names of folders say of the partitions what the log says, so that without it they read alike."""
        if self.log is None:
            return True
        inside = [file.relative_to(self.folder) for file in self.partitions]
        named = all(file.suffix == ".parquet" and not any(map(_is_hidden, file.parts)) for file in inside)
        if not named or any(partition(self.folder, file) != values for file, values in self.partitions.items()):
            return False
        guessed = partition_kinds(self.folder, self.files)
        return all(guessed[column] == _WHOLE.get(kind, kind) for column, kind in self.kinds.items())


def contents(folder: Path) -> FolderContents:
    """The files of a folder that hold its rows, and what is said of them."""
    if is_delta(folder):
        log = read_log(folder)
        kinds = log.kinds
        return FolderContents(folder, log.files, {column: kinds[column] for column in log.partitions}, log)
    files = _plain_files(folder)
    return FolderContents(folder, {file: partition(folder, file) for file in files}, partition_kinds(folder, files))


def parquet_files(folder: Path) -> list[Path]:
    """The files of a folder that hold its rows, by name."""
    return list(read_log(folder).files) if is_delta(folder) else _plain_files(folder)


def watched_files(folder: Path) -> list[Path]:
    """The files by which it is noticed that a folder has changed."""
    return [*parquet_files(folder), *(last_commit(folder) if is_delta(folder) else [])]


def scan_folder(path: str | Path, key: Sequence[str]) -> RelationFolder:
    """A folder of Parquet files, checked to be readable, and the key that numbers its rows; the rows are left there."""
    folder = Path(path)
    if folder.name in ("", ".."):  # "." has no name to be called by
        folder = folder.resolve()
    held = contents(folder)
    if not key:
        raise InputError(
            f"{folder.name} needs a key: the columns that tell its rows apart, and so number them; "
            'give key = "ID" in the file, or --key ID'
        )
    columns = _columns(folder, held.files) if held.log is None else _logged_columns(folder, held.log)
    for column in columns:
        if column.lower() in OURS:
            raise SchemaError(f"column {column!r} of {folder.name} has a name that DuckDB needs; rename it")
    check_columns(columns, folder.name)
    SchemaError.check_there(key, columns, folder.name)
    return RelationFolder(folder, tuple(columns), tuple(key))


def _plain_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist"
        raise FileError(f"{folder} {problem}; give a folder of Parquet files, or a CSV, TSV or Parquet file")
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
    return {column: _kind([values.get(column) for values in found]) for column in found[0]}


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
    return [*first, *levels]


def _logged_columns(folder: Path, log: DeltaLog) -> list[str]:
    """The columns that a Delta table has by its log, which all files keep to."""
    for file in log.files:
        if not file.exists():
            raise FileError(f"the Delta log of {folder} names {file.relative_to(folder)}, which is not there")
        check_logged(schema_of(file), log, f"{file.relative_to(folder)} in {folder.name}")
    return list(log.schema.names)


def schema_of(file: Path) -> pa.Schema:
    """A file's columns."""
    return metadata(file).schema.to_arrow_schema()


def _shape(file: Path) -> tuple[list[str], list[tuple[tuple[str, ...], str]]]:
    """A file's columns, and all that they are made of: by what it is, else by how it is stored."""
    schema = metadata(file).schema
    columns = schema.to_arrow_schema()
    paths = [path for column in columns for path in _paths((column.name,), column.type)]
    parts = [schema.column(i) for i in range(len(schema))]
    kinds = [p.physical_type if p.logical_type.type == "NONE" else str(p.logical_type) for p in parts]
    return columns.names, list(zip(paths, kinds, strict=True))


def _paths(path: tuple[str, ...], kind: pa.DataType) -> Iterator[tuple[str, ...]]:
    """Where the values of a column are; writers name the parts of a list, and of a map, as they like."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_struct(kind):
        for part in kind:
            yield from _paths((*path, part.name), part.type)
    elif pa.types.is_map(kind):
        yield from _paths((*path, "[key]"), kind.key_type)
        yield from _paths((*path, "[value]"), kind.item_type)
    elif pa.types.is_nested(kind):
        yield from _paths((*path, "[]"), kind.value_type)
    else:
        yield path


def parquet() -> Any:
    """Arrow's readers and writers of Parquet files, loaded where there is such a file: a text needs none of it."""
    return import_module("pyarrow.parquet")


def metadata(file: Path) -> Any:
    """What a Parquet file says of itself."""
    try:
        return parquet().read_metadata(file)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise FileError(f"{file} is not a complete Parquet file; write it again, or take it out") from None


@contextmanager
def whole_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to write into, which becomes `path` when all is written, and else is gone.

    What is there already is never mixed with it: `path` is new, or empty, or may be replaced, by one writer at a time.
    """
    if not replace:
        _check_target(path)
    partial = path.absolute().with_name(f".{path.name}.partial" if replace else f".{path.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # what a killed process has left
    try:
        partial.mkdir()
        yield partial
        if path.exists():
            shutil.rmtree(path) if replace else path.rmdir()
        partial.rename(path)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror or type(error).__name__})") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_target(path: Path) -> None:
    """Raise if a folder could not be written there: what is there already is never mixed with it."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileError(f"{path} is there already; give the name of a new folder, or of an empty one")
    if not path.absolute().parent.is_dir():
        raise FileError(f"{path.absolute().parent} does not exist; make it first")
