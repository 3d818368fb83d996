"""How DuckDB gets at a relation: Parquet in place, Arrow without a copy, CSV read once; folders in `folder`.

A large CSV goes into a table that may spill to disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import duckdb
import numpy as np
import pyarrow as pa

from pacas.core.relation import Relation
from pacas.engine.contract import KeyedFrame, NeighbourDiffs, RelationFile, RelationFolder, Source, memory_bytes
from pacas.engine.duck.connection import reading
from pacas.engine.duck.folder import create_from_folder
from pacas.engine.duck.text import create_view, file_literal, text_of
from pacas.engine.files.encoding import in_utf8
from pacas.engine.files.excel import sheet_table
from pacas.engine.files.folder import parquet
from pacas.engine.sql.statements import ROW, column_name, literal, quote
from pacas.errors import InputError, NoRowsError, SchemaError

MAX_LINE = 32 << 20
IN_MEMORY = 512 << 20
"""Bytes of a CSV file up to which it is held in memory as Arrow: that is twice as fast as a table of DuckDB's."""
LARGEST = 1 << 30
"""Bytes of a column up to which it is taken as it is."""


def plain_columns(source: Source, columns: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """The columns that are in memory as the texts they are."""
    SchemaError.check_there(columns, source.columns, source.name)
    return _texts(source.table, columns) if isinstance(source, Relation) else {}


def create_table(connection: duckdb.DuckDBPyConnection, name: str, source: Source, columns: Sequence[str]) -> int:
    """Make the source's columns known as `name`(row_number, c0, c1, …): how many rows are there?"""
    rows, texts = open_table(connection, name, source, columns)
    if texts:
        create_from_texts(connection, name, texts)
    return rows


def open_table(
    connection: duckdb.DuckDBPyConnection, name: str, source: Source, columns: Sequence[str]
) -> tuple[int, dict[str, pa.ChunkedArray]]:
    """Make the source's columns known as `name`(row_number, c0, c1, …), or read them, where they are held in memory.

    Returned are the number of rows, and the columns that were read: those DuckDB does not know yet.
    """
    if isinstance(source, KeyedFrame):
        raise InputError(f"{source.name} is a frame of Spark's, which DuckDB cannot open; give the Spark engine")
    texts: dict[str, pa.ChunkedArray] = {}
    with reading(source.name):
        if isinstance(source, Relation):
            _create_from_arrow(connection, name, source, columns)
        elif isinstance(source, RelationFolder):
            create_from_folder(connection, name, source, columns)
        elif source.format == "excel":
            texts = _by_column(sheet_table(source.path, source.sheet, columns, source.nulls), columns)
        elif source.format == "parquet":
            _create_from_parquet(connection, name, source, columns)
        else:
            with in_utf8(source) as text:
                texts = _open_text(connection, name, text, columns)
        rows = len(texts[columns[0]]) if texts else _count(connection, name)
    if rows == 0:
        raise NoRowsError.of(source.name)
    return rows, texts


def create_from_texts(connection: duckdb.DuckDBPyConnection, name: str, texts: Mapping[str, pa.ChunkedArray]) -> None:
    """Make columns that are in memory known as `name`(row_number, c0, c1, …)."""
    _create_from_arrow(connection, name, Relation(pa.table(dict(texts))), [*texts])


def _by_column(table: pa.Table, columns: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    return dict(zip(columns, table.columns, strict=True))


def _count(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    return int(connection.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0])


def _texts(table: pa.Table, columns: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """The columns that already are what a column is to us: text, and no empty one; and not more than Arrow can join."""
    import pyarrow.compute as pc  # here: slow to import, and a file needs none of it

    found = {c: table.column(c) for c in columns}
    plain = {c: column for c, column in found.items() if column.type == pa.string() and column.nbytes <= LARGEST}
    return {c: column for c, column in plain.items() if not pc.any(pc.equal(pc.binary_length(column), 0)).as_py()}


def _create_from_parquet(
    connection: duckdb.DuckDBPyConnection, name: str, file: RelationFile, columns: Sequence[str]
) -> None:
    if "file_row_number" in map(str.lower, file.columns):  # the name under which DuckDB numbers the rows of a file
        _create_from_arrow(connection, name, Relation(parquet().read_table(file.path, columns=list(columns))), columns)
        return
    path = file_literal(file.path)
    described = connection.sql(f"DESCRIBE SELECT * FROM read_parquet({path})").fetchall()
    chosen = [described[file.columns.index(c)] for c in columns]
    create_view(
        connection,
        name,
        f"read_parquet({path}, file_row_number = true)",
        "file_row_number",
        [(quote(str(row[0])), str(row[1])) for row in chosen],
    )


def _open_text(
    connection: duckdb.DuckDBPyConnection, name: str, file: RelationFile, columns: Sequence[str]
) -> dict[str, pa.ChunkedArray]:
    limit = _limit(connection)
    scan, names = _scan_csv(file, limit), [column_name(file.columns.index(c)) for c in columns]
    is_small = file.compression == "none" and file.path.stat().st_size <= min(IN_MEMORY, limit // 8)
    if names and is_small:
        texts = ", ".join(text_of(one, "VARCHAR") for one in names)
        return _by_column(connection.sql(f"SELECT {texts} FROM {scan}").to_arrow_table(), columns)
    connection.execute(f"CREATE TEMP TABLE {name}_csv AS SELECT {', '.join(names)} FROM {scan}")
    create_view(connection, name, f"{name}_csv", "rowid", [(c, "VARCHAR") for c in names])
    return {}


def _limit(connection: duckdb.DuckDBPyConnection) -> int:
    """What DuckDB may take."""
    return memory_bytes(str(connection.sql("SELECT current_setting('memory_limit')").fetchall()[0][0]))


def _scan_csv(file: RelationFile, limit: int) -> str:
    line = min(MAX_LINE, limit // 64)
    header = ", ".join(f"{column_name(i)}: 'VARCHAR'" for i in range(len(file.columns)))
    nulls = ", ".join(map(literal, ("", *file.nulls)))
    written = {"\r\n": r"\r\n", "\n": r"\n", "\r": r"\r", None: None}[file.line_end]  # as DuckDB spells them
    ends = "" if written is None else f", new_line = {literal(written)}"
    return (
        f"read_csv({file_literal(file.path)}, delim = {literal(file.delimiter)}, quote = '\"', escape = '\"', "
        f"header = true, columns = {{{header}}}, auto_detect = false, nullstr = [{nulls}], null_padding = false, "
        f"max_line_size = {line}, buffer_size = {2 * line}, compression = {literal(file.compression)}{ends})"
    )


def _create_from_arrow(
    connection: duckdb.DuckDBPyConnection, name: str, relation: Relation, columns: Sequence[str]
) -> None:
    names = [column_name(i) for i in range(len(columns))]
    numbers = pa.array(np.arange(len(relation)))
    table = relation.table.select(list(columns)).rename_columns(names).append_column(ROW, numbers)
    connection.register(f"{name}_arrow", table)
    types = dict(row[:2] for row in connection.sql(f"DESCRIBE {name}_arrow").fetchall())
    create_view(connection, name, f"{name}_arrow", ROW, [(c, str(types[c])) for c in names])


@contextmanager
def given_deltas(
    connection: duckdb.DuckDBPyConnection, name: str, deltas: NeighbourDiffs, columns: Mapping[str, str]
) -> Iterator[None]:
    """Deltas known as `name`(neighbour, sign, …) for a while, columns called as in the relation."""
    numbers = {"neighbour": pa.array(deltas.neighbour, pa.int64()), "sign": pa.array(deltas.sign, pa.int8())}
    table = pa.table(numbers | {sql: deltas.rows.column(column) for column, sql in columns.items()})
    try:
        connection.register(f"{name}_arrow", table)
        types = dict(row[:2] for row in connection.sql(f"DESCRIBE {name}_arrow").fetchall())
        texts = "".join(f", {text_of(c, str(types[c]))} AS {c}" for c in columns.values())
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT neighbour, sign{texts} FROM {name}_arrow")
        yield
    finally:
        connection.execute(f"DROP VIEW IF EXISTS {name}")
        connection.unregister(f"{name}_arrow")
