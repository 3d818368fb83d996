"""A copy of a folder of Parquet files with new values in some cells: file by file, a batch of rows at a time.

A file keeps its name, its partition and the order of its rows; one without new cells is copied as it is. Where a
partition's own column has new values, the rows could not stay in it: then the files stand side by side and have the
partitions' columns themselves.

Of a Delta table it is the files that count, and no log: what the log alone says stands in the files then, and in the
names of folders only what they say without it, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.engine.contract import RelationFolder
from pacas.engine.duck.connection import BATCH
from pacas.engine.duck.folder import FolderFiles, files_by_key, places_of
from pacas.engine.duck.text import text_of
from pacas.engine.files.folder import parquet, schema_of, whole_folder
from pacas.engine.new_cells import NewCells, in_type, put
from pacas.errors import FileError, InputError, SchemaError

_ARROW = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "DATE": pa.date32(), "VARCHAR": pa.string()}


def write_folder(
    connection: duckdb.DuckDBPyConnection,
    source: RelationFolder,
    cells: Mapping[str, NewCells],
    path: Path,
    replace: bool,
    check: Callable[[], None],
) -> None:
    """Write a folder with new values in some cells; `path` holds all of it or is as it was.

    `replace` says that what is there may go; `check` raises if the source is another one than before.
    """
    SchemaError.check_there(cells, source.columns, source.name)
    with whole_folder(path, replace=replace) as partial:
        files, in_order = files_by_key(connection, source)
        columns = {
            attribute: _placed(connection, files, in_order, attribute, new)
            for attribute, new in cells.items()
            if len(new.rows)
        }
        failed = _failure(_Copy(connection, files, columns), files.held.files, partial)
        check()
        if isinstance(failed, pa.ArrowException) or (isinstance(failed, OSError) and failed.errno is None):
            raise FileError(f"{source.name} cannot be copied; are its files complete, and all values of their types?")
        if failed is not None:
            raise failed


def _failure(copy: _Copy, files: Sequence[Path], into: Path) -> Exception | None:
    """Copy files; if one of them, or the copy's, makes it fail: how. That may quote a value."""
    try:
        for file in files:
            copy.write(file, into)
    except (pa.ArrowException, OSError, LookupError, ValueError) as error:
        return error
    return None


@dataclass(frozen=True, slots=True)
class _NewColumn:
    """What is written into one column: values by the file that their row is in, and its place there; sorted by both."""

    values: pa.Array
    is_text: bool
    """Whether the column becomes text, as some of its new values have not its type."""
    file: NDArray[np.int64]
    place: NDArray[np.int64]

    def within(self, file: int, start: int, end: int) -> slice:
        """Which of the values are for these rows of a file."""
        first, last = np.searchsorted(self.file, [file, file + 1])
        low, high = np.searchsorted(self.place[first:last], [start, end])
        return slice(int(first + low), int(first + high))


def _placed(
    connection: duckdb.DuckDBPyConnection, files: FolderFiles, in_order: bool, attribute: str, new: NewCells
) -> _NewColumn:
    """New cells where they go; where a row is named twice, the last value counts."""
    rows, last = np.unique(new.rows[::-1], return_index=True)
    if rows[0] < 0 or rows[-1] >= sum(files.rows):
        raise InputError(f"{files.folder.name} has changed since it was first read; let its writers finish")
    file, place = places_of(connection, files, in_order, rows)
    order = np.lexsort((place, file))
    texts = [new.values[len(new.rows) - 1 - i] for i in last[order].tolist()]
    kept = in_type(texts, _type(files, attribute))
    values = pa.array(texts, pa.string()) if kept is None else kept
    return _NewColumn(values, kept is None, file[order], place[order])


def _type(files: FolderFiles, attribute: str) -> pa.DataType:
    if files.held.log is not None:
        return files.held.log.schema.field(attribute).type
    if attribute in files.held.kinds:
        return _ARROW[files.held.kinds[attribute]]
    kind = schema_of(files.paths[0]).field(attribute).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class _Copy:
    """A folder's files, each written with its new cells."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, files: FolderFiles, columns: Mapping[str, _NewColumn]
    ) -> None:
        self._connection, self._columns = connection, columns
        self._files, self._held = files, files.held
        self._numbers = {path: number for number, path in enumerate(files.paths)}
        self._side_by_side = not self._held.named_as_logged() or any(name in self._held.kinds for name in columns)
        become_text = any(column.is_text for column in columns.values())
        self._all_change = self._side_by_side or become_text or not files.alike
        self._written = 0

    def write(self, file: Path, into: Path) -> None:
        """One file; `into` is the folder of the copy."""
        name = f"part-{self._written:05}.parquet" if self._side_by_side else file.relative_to(self._held.folder)
        self._written += 1
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not self._all_change and not self._has_new(file):
            shutil.copyfile(file, target)
            return
        with parquet().ParquetFile(file, coerce_int96_timestamp_unit="us") as read:
            first = self._changed(read.schema_arrow.empty_table(), file, 0)
            with parquet().ParquetWriter(target, first.schema) as writer:
                start = 0
                for batch in read.iter_batches(BATCH):
                    writer.write_table(self._changed(pa.Table.from_batches([batch]), file, start))
                    start += len(batch)

    def _has_new(self, file: Path) -> bool:
        number = self._numbers.get(file)  # a file without rows has none
        return number is not None and any(number in column.file for column in self._columns.values())

    def _changed(self, rows: pa.Table, file: Path, start: int) -> pa.Table:
        """Rows of a file, from one on, with their new cells."""
        if self._held.log is not None:
            rows = _as_logged(rows, self._held.log.own)
        if self._side_by_side:
            for name, value in self._held.partitions[file].items():
                values = pa.array([value] * len(rows), pa.string())
                rows = rows.append_column(name, values.cast(_type(self._files, name)))
            rows = rows.select(list(self._files.folder.columns))
        for attribute, new in self._columns.items():
            at = rows.column_names.index(attribute)
            column = self._as_texts(rows.column(at)) if new.is_text else rows.column(at)
            chosen = new.within(self._numbers.get(file, -1), start, start + len(rows))
            rows = rows.set_column(at, attribute, put(column, new.place[chosen] - start, new.values[chosen]))
        return rows

    def _as_texts(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column as it is read."""
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        self._connection.register("pacas_column", pa.table({"c": column}))
        try:
            kind = str(self._connection.sql("DESCRIBE pacas_column").fetchall()[0][1])
            texts = self._connection.sql(f"SELECT {text_of('c', kind)} AS c FROM pacas_column").to_arrow_table()
        finally:
            self._connection.unregister("pacas_column")
        return texts.column(0)


def _as_logged(rows: pa.Table, fields: Sequence[pa.Field]) -> pa.Table:
    """Rows of a file of a Delta table, of the columns and types that its log says."""
    columns = [
        rows.column(field.name).cast(field.type) if field.name in rows.column_names else pa.nulls(len(rows), field.type)
        for field in fields
    ]
    return pa.table(columns, names=[field.name for field in fields])
