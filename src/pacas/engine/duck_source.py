"""How DuckDB gets at a relation: Parquet in place, CSV read once into a table that may spill, Arrow without a copy."""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

from pacas.core.relation import Relation
from pacas.engine.contract import RelationFile, Source
from pacas.errors import FileError, InputError, SchemaError

ROW = '"pacas row number"'


def quote(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def create_table(
    connection: duckdb.DuckDBPyConnection, name: str, source: Source, columns: Sequence[str] | None
) -> tuple[tuple[str, ...], int]:
    """Make `source` known under `name`; return the columns kept and the number of rows."""
    kept = tuple(dict.fromkeys(columns)) if columns is not None else tuple(source.columns)
    for column in kept:
        if column not in source.columns:
            raise SchemaError.missing(column, source.columns, source.name)
    try:
        if isinstance(source, RelationFile):
            _create_from_file(connection, name, source, kept)
        else:
            _create_from_arrow(connection, name, source, kept)
        rows = int(connection.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0])
    except duckdb.Error as error:
        raise _file_error(source.name, str(error)) from None
    if rows == 0:
        raise InputError(f"{source.name} has a header but no rows")
    return kept, rows


def _create_from_file(
    connection: duckdb.DuckDBPyConnection, name: str, file: RelationFile, columns: Sequence[str]
) -> None:
    path = literal(str(file.path))
    if file.format == "parquet":
        scan = f"read_parquet({path}, file_row_number = true)"
        texts = _texts(connection, f"read_parquet({path})", columns)
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT file_row_number AS {ROW}, {texts} FROM {scan}")
        return
    header = ", ".join(f"{literal(c)}: 'VARCHAR'" for c in file.columns)
    scan = (
        f"read_csv({path}, delim = {literal(file.delimiter)}, quote = '\"', escape = '\"', header = true, "
        f"columns = {{{header}}}, auto_detect = false, nullstr = '', null_padding = false)"
    )
    names = ", ".join(map(quote, columns))
    connection.execute(f"CREATE TEMP TABLE {name}_csv AS SELECT {names} FROM {scan}")
    connection.execute(f"CREATE TEMP VIEW {name} AS SELECT rowid AS {ROW}, {names} FROM {name}_csv")


def _create_from_arrow(
    connection: duckdb.DuckDBPyConnection, name: str, relation: Relation, columns: Sequence[str]
) -> None:
    numbered = relation.table.select(list(columns)).append_column(
        pa.field("pacas row number", pa.int64()), pa.array(np.arange(len(relation)))
    )
    connection.register(f"{name}_arrow", numbered)
    texts = _texts(connection, f"{name}_arrow", columns)
    connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {ROW}, {texts} FROM {name}_arrow")


def _texts(connection: duckdb.DuckDBPyConnection, scan: str, columns: Sequence[str]) -> str:
    """The columns as text, an empty one as null, a float's whole numbers as whole numbers."""
    types = {row[0]: str(row[1]) for row in connection.sql(f"DESCRIBE SELECT * FROM {scan}").fetchall()}
    return ", ".join(f"{_text(quote(c), types[c])} AS {quote(c)}" for c in columns)


def _text(column: str, sql_type: str) -> str:
    if sql_type == "VARCHAR":
        return f"nullif({column}, '')"
    if sql_type in ("DOUBLE", "FLOAT"):
        whole = f"{column} = trunc({column}) AND abs({column}) < 1e15"
        return f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
    return f"nullif({column}::VARCHAR, '')"


def _file_error(called: str, message: str) -> FileError:
    """DuckDB's words, which may quote a line of the data, as one line of ours, which does not."""
    at = re.search(r"Line: (\d+)", message)
    where = f"{called}, line {at[1]}" if at else called
    if "unicode" in message or "utf-8" in message.lower():
        return FileError(f"{where}: bytes that are not UTF-8; convert the file, for example with iconv")
    if found := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return FileError(f"{where}: {found[2]} fields where the header has {found[1]}")
    if "quote" in message.lower():
        return FileError(f"{where}: a quoted field that does not end as one")
    kind = message.split(":", 1)[0].split("\n", 1)[0]
    return FileError(f"{where}: cannot be read ({kind}); is it complete, and of the kind its name says?")
