"""Statements about one relation, written once, in DuckDB's dialect of SQL; other engines translate them.

An opened relation is a table or view (row_number, c0, c1, …) of texts. Names of the user's, which may differ only in
case, stay outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from pacas.engine.new_cells import NewCells
from pacas.errors import InputError, SchemaError

ROW = "row_number"


def quote(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def column_name(position: int) -> str:
    """What SQL calls the column at a position."""
    return f"c{position}"


class OpenedRelation(Protocol):
    """What statements need to know of an opened relation."""

    name: str
    sql_name: str
    columns: tuple[str, ...]

    def __len__(self) -> int: ...

    def sql_column(self, attribute: str) -> str: ...


def check_columns(table: OpenedRelation, attributes: Iterable[str]) -> None:
    """Raise if a question is about a column that the relation does not have."""
    for attribute in attributes:
        if attribute not in table.columns:
            raise SchemaError.missing(attribute, table.columns, table.name)


def check_key(key: Iterable[str], where: str, *, without: int = 0, again: int = 0) -> None:
    """Raise if the key lacks a value in some rows, or has in some the value of another row."""
    named = ", ".join(key)
    if without:
        raise InputError(f"the key {named} of {where} is null in {without:,} rows; give columns that never are")
    if again:
        raise InputError(f"the key {named} of {where} repeats in {again:,} rows; give columns that tell all rows apart")


def distinct_sql(column: str, relations: Sequence[str]) -> str:
    """The values of a column, each once, sorted, a null last; over several relations, those of all."""
    values = " UNION ALL ".join(f"SELECT {column} AS value FROM {name}" for name in relations)
    return f"SELECT DISTINCT value FROM ({values}) ORDER BY value NULLS LAST"


def coding_sql(table: OpenedRelation, codes: Mapping[str, tuple[str, int | None]]) -> str:
    """Each row's number and codes: per attribute, a table (value, code) to look them up in, and a null's code."""
    outputs, joins = [], []
    for i, (attribute, (values, null)) in enumerate(codes.items()):
        outputs.append(f"d{i}.code AS d{i}" if null is None else f"coalesce(d{i}.code, {null}) AS d{i}")
        joins.append(f"LEFT JOIN {values} AS d{i} ON t.{table.sql_column(attribute)} = d{i}.value")
    return f"SELECT t.{ROW}, {', '.join(outputs)} FROM {table.sql_name} AS t {' '.join(joins)}"


def rows_sql(table: OpenedRelation, columns: Sequence[str], wanted: str | None) -> str:
    """Columns of the rows that a table (row, position) names, in the order of the positions; or of all rows."""
    names = ", ".join(f"t.{table.sql_column(c)} AS {column_name(i)}" for i, c in enumerate(columns))
    if wanted is None:
        return f"SELECT {names} FROM {table.sql_name} AS t ORDER BY t.{ROW}"
    joined = f"{wanted} AS w JOIN {table.sql_name} AS t ON t.{ROW} = w.row"
    return f"SELECT {names} FROM {joined} ORDER BY w.position"


def changed_sql(table: OpenedRelation, columns: Sequence[str], new: Mapping[str, str]) -> str:
    """A relation with these columns, and new values in some: per attribute a table (row, value). Others are null."""
    outputs, joins = [], []
    for i, column in enumerate(columns):
        old = f"t.{table.sql_column(column)}" if column in table.columns else "NULL"
        if column in new:
            outputs.append(f"CASE WHEN w{i}.row IS NULL THEN {old} ELSE w{i}.value END AS {column_name(i)}")
            joins.append(f"LEFT JOIN {new[column]} AS w{i} ON t.{ROW} = w{i}.row")
        else:
            outputs.append(f"{old} AS {column_name(i)}")
    return f"SELECT t.{ROW} AS {ROW}, {', '.join(outputs)} FROM {table.sql_name} AS t {' '.join(joins)}"


def new_values(cells: NewCells) -> pa.Table:
    """New cells as a table (row, value)."""
    return pa.table({"row": pa.array(cells.rows, pa.int64()), "value": pa.array(list(cells.values), pa.string())})
