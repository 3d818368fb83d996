"""A Parquet file with some cells changed, copied a batch at a time: as Parquet with its types, or as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv

from pacas.client.outcome.changes import Changes, as_texts, as_type
from pacas.engine.contract import Engine, RelationFile
from pacas.engine.files.excel import SheetWriter
from pacas.engine.files.folder import parquet
from pacas.engine.new_cells import put
from pacas.formats.relations.relations import BATCH, EXCEL, PARQUET, create_text, kind_to_write
from pacas.formats.replacing import replacing


class _Writer(Protocol):
    def write_table(self, table: pa.Table) -> None: ...


def write_changed_parquet(
    file: RelationFile,
    changes: Mapping[str, Changes],
    engine: Engine[Any],
    path: Path,
    check_unchanged: Callable[[], None] = lambda: None,
) -> None:
    """Write a Parquet file's table with its changes; `path` holds all of it or is as it was.

    A column keeps its type where all its new values have it, else it becomes text. `check_unchanged` raises if the
    file is another one than the changes are about.
    """
    kind = kind_to_write(path)
    with replacing(path) as partial, parquet().ParquetFile(file.path) as source:
        columns = [
            _CopiedColumn(name, changes.get(name), source.schema_arrow.field(name), engine) for name in file.columns
        ]
        schema = pa.schema([column.field for column in columns], source.schema_arrow.metadata)
        with _writer(partial, kind, schema) as writer:
            first = 0
            for batch in source.iter_batches(BATCH):
                table = pa.Table.from_batches([batch])
                arrays = [column.changed(table.column(i), first) for i, column in enumerate(columns)]
                writer.write_table(pa.table(arrays, schema=schema))
                first += len(table)
        check_unchanged()


class _CopiedColumn:
    """One column while it is copied."""

    def __init__(self, name: str, changes: Changes | None, field: pa.Field, engine: Engine[Any]) -> None:
        self._changes, self._engine = changes, engine
        self.field, self._is_text, self._new = field, False, pa.nulls(0)
        if changes is None:
            return
        new = as_type(changes.new, field.type)
        self._is_text = new is None
        self._new = pa.array(changes.new, pa.string()) if new is None else new
        self.field = pa.field(name, self._new.type)

    def changed(self, column: pa.ChunkedArray, first: int) -> pa.ChunkedArray | pa.Array:
        """A part of the column, which begins at a row."""
        if self._changes is None:
            return column
        if self._is_text:
            column = as_texts(column, self._engine)
        start, end = np.searchsorted(self._changes.rows, [first, first + len(column)])
        return put(column, self._changes.rows[start:end] - first, self._new[start:end])


@contextmanager
def _writer(partial: Path, kind: str, schema: pa.Schema) -> Iterator[_Writer]:
    if kind == PARQUET:
        with parquet().ParquetWriter(partial, schema) as writer:
            yield writer
        return
    if kind == EXCEL:
        with SheetWriter(partial, schema.names) as sheet:
            yield sheet
        return
    options = pyarrow.csv.WriteOptions(delimiter=kind, quoting_style="needed")
    with create_text(partial) as stream, pyarrow.csv.CSVWriter(stream, schema, write_options=options) as writer:
        yield writer
