"""How DuckDB gets at a folder of Parquet files, whose rows have the numbers that the order of a key gives them.

Where the files already hold their rows in that order, as a table with a running number mostly does, they are read in
place, and a row's number follows from its file and its place there. Otherwise the columns that are asked about are
sorted into a table, which may spill to disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.engine.contract import RelationFolder
from pacas.engine.duck.text import create_view, file_literal
from pacas.engine.files.folder import FolderContents, contents, metadata, schema_of
from pacas.engine.files.watched_files import changed
from pacas.engine.sql.statements import check_key, column_name, literal, quote
from pacas.errors import InputError


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files of a folder that have rows, as SQL reads them: one after the other, in this order."""

    folder: RelationFolder
    paths: tuple[Path, ...]
    rows: tuple[int, ...]
    """How many each file has."""
    held: FolderContents
    """All that the folder holds: the columns that come from its partitions, and what a log says."""
    kinds: dict[str, tuple[str, str]]
    """Each column of the files: how SQL names it there, and its type."""
    alike: bool
    """Whether all files have the same columns."""

    @property
    def starts(self) -> list[int]:
        """How many rows come before each file."""
        return [0, *accumulate(self.rows)][:-1]

    @property
    def scan(self) -> str:
        return _scan(self.paths, self.alike)

    @property
    def row(self) -> str:
        """A row's number, where files in this order hold their rows in the key's."""
        return f"{_of_file(map(str, self.starts), 'BIGINT')} + file_row_number"

    def column(self, name: str) -> tuple[str, str]:
        """A column as SQL, and its type."""
        if name not in self.held.kinds:
            return self.kinds[name]
        values = (self.held.partitions[path][name] for path in self.paths)
        kind = self.held.kinds[name]
        return _of_file(("NULL" if value is None else literal(value) for value in values), kind), kind

    def in_order(self, order: Sequence[int]) -> FolderFiles:
        paths, rows = tuple(self.paths[i] for i in order), tuple(self.rows[i] for i in order)
        return replace(self, paths=paths, rows=rows)


def create_from_folder(
    connection: duckdb.DuckDBPyConnection, name: str, folder: RelationFolder, columns: Sequence[str]
) -> None:
    """Make a folder's columns known as `name`(row_number, c0, c1, …)."""
    files, sorted_already = files_by_key(connection, folder)
    chosen = [files.column(c) for c in columns]
    if sorted_already:
        create_view(connection, name, files.scan, files.row, chosen)
        return
    named = [column_name(i) for i in range(len(chosen))]
    create_sorted(
        connection, f"{name}_sorted", files, [f"{sql} AS {c}" for c, (sql, _) in zip(named, chosen, strict=True)]
    )
    kinds = [kind for _, kind in chosen]
    create_view(connection, name, f"{name}_sorted", "rowid", list(zip(named, kinds, strict=True)))


def files_by_key(connection: duckdb.DuckDBPyConnection, folder: RelationFolder) -> tuple[FolderFiles, bool]:
    """The files in the order of the keys that they begin with, and whether all rows then are in the key's order."""
    files = _files(connection, folder)
    keys = _keys(files)
    begins = f"SELECT file_index FROM {files.scan} WHERE file_row_number = 0 ORDER BY {', '.join(keys)}"
    files = files.in_order([int(row[0]) for row in connection.sql(begins).fetchall()])
    keys = _keys(files)
    without, unordered = _compared(connection, files.scan, keys, ">=")
    check_key(folder.key, folder.name, without=without)
    return files, unordered == 0


def create_sorted(connection: duckdb.DuckDBPyConnection, name: str, files: FolderFiles, outputs: Sequence[str]) -> None:
    """A table of the files' rows in the key's order, which must tell all of them apart; its rowid is their number."""
    keys = [f"k{i}" for i in range(len(files.folder.key))]
    listed = [*(f"{sql} AS {k}" for sql, k in zip(_keys(files), keys, strict=True)), *outputs]
    connection.execute(
        f"CREATE TEMP TABLE {name} AS SELECT {', '.join(listed)} FROM {files.scan} ORDER BY {', '.join(keys)}"
    )
    _, again = _compared(connection, name, keys, "=")
    if again:
        connection.execute(f"DROP TABLE {name}")
        check_key(files.folder.key, files.folder.name, again=again)


def places_of(
    connection: duckdb.DuckDBPyConnection, files: FolderFiles, sorted_already: bool, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where rows of these numbers stand: which file each is in, and which row it is there."""
    if sorted_already:
        file = np.searchsorted(np.array(files.starts), rows, side="right") - 1
        return file, rows - np.array(files.starts)[file]
    create_sorted(connection, "pacas_places", files, ["file_index", "file_row_number"])
    try:
        connection.register("pacas_wanted", pa.table({"row": rows, "position": np.arange(len(rows))}))
        joined = "pacas_wanted AS w JOIN pacas_places AS p ON p.rowid = w.row ORDER BY w.position"
        places = connection.sql(f"SELECT file_index::BIGINT, file_row_number FROM {joined}").to_arrow_table()
    finally:
        connection.unregister("pacas_wanted")
        connection.execute("DROP TABLE pacas_places")
    return places.column(0).to_numpy(), places.column(1).to_numpy()


def _files(connection: duckdb.DuckDBPyConnection, folder: RelationFolder) -> FolderFiles:
    held = contents(folder.path)
    if held.log is not None and tuple(held.log.schema.names) != folder.columns:
        raise changed(folder.name)
    if not all(path.exists() for path in held.files):
        raise changed(folder.name)
    rows = {path: int(metadata(path).num_rows) for path in held.files}
    filled = tuple(path for path in held.files if rows[path])
    if not filled:
        raise InputError(f"{folder.name} has a header but no rows")
    alike = held.stored_as_logged()
    described = connection.sql(f"DESCRIBE SELECT * FROM {_scan(filled, alike)}").fetchall()
    found = {str(row[0]): (quote(str(row[0])), str(row[1])) for row in described}
    own = [c for c in folder.columns if c not in held.kinds]
    kinds = _as_found(own, found, filled[0]) if held.log is None else _as_logged(own, found, held.log.kinds)
    return FolderFiles(folder, filled, tuple(rows[path] for path in filled), held, kinds, alike)


def _as_found(own: Sequence[str], found: Mapping[str, tuple[str, str]], file: Path) -> dict[str, tuple[str, str]]:
    """Columns by DuckDB's names for them, which differ where two names differ in case alone."""
    names = schema_of(file).names
    return {c: found.get(c) or list(found.values())[names.index(c)] for c in own}


def _as_logged(
    own: Sequence[str], found: Mapping[str, tuple[str, str]], kinds: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Columns of the types that a Delta log says; one that no file has is null."""
    columns: dict[str, tuple[str, str]] = {}
    for column in own:
        sql, kind = found.get(column, ("NULL", "VARCHAR"))
        logged = kinds.get(column, kind)
        columns[column] = (sql if kind == logged else f"CAST({sql} AS {logged})"), logged
    return columns


def _scan(paths: Sequence[Path], alike: bool) -> str:
    listed = ", ".join(map(file_literal, paths))
    by_name = "" if alike else ", union_by_name = true"
    return f"read_parquet([{listed}], file_row_number = true, hive_partitioning = false{by_name})"


def _of_file(values: Iterable[str], kind: str) -> str:
    """What depends on the file that a row is in, one value for each file."""
    return f"CAST([{', '.join(values)}] AS {kind}[])[file_index::BIGINT + 1]"


def _keys(files: FolderFiles) -> list[str]:
    return [files.column(key)[0] for key in files.folder.key]


def _compared(
    connection: duckdb.DuckDBPyConnection, scan: str, keys: Sequence[str], comparison: str
) -> tuple[int, int]:
    """How many rows lack a part of their key, and how many follow one whose key compares so with theirs."""
    own = [f"k{i}" for i in range(len(keys))]
    before = [f"p{i}" for i in range(len(keys))]
    read = ", ".join(f"{sql} AS {k}, lag({sql}) OVER () AS {p}" for sql, k, p in zip(keys, own, before, strict=True))
    without = " OR ".join(f"{k} IS NULL" for k in own)
    follows = f"{before[0]} IS NOT NULL AND ({', '.join(before)}) {comparison} ({', '.join(own)})"
    counts = f"count(*) FILTER (WHERE {without}), count(*) FILTER (WHERE {follows})"
    found = connection.sql(f"SELECT {counts} FROM (SELECT {read} FROM {scan})").fetchall()[0]
    return int(found[0]), int(found[1])
