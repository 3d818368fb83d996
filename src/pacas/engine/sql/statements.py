"""Statements about one relation, written once, in DuckDB's dialect of SQL; other engines translate them.

An opened relation is a table or view (row_number, c0, c1, …) of texts. Names of the user's, which may differ only in
case, stay outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.engine.codes import CodedColumn, code_type, place
from pacas.engine.contract import Source
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


class Sql(Protocol):
    """Where statements are run, in DuckDB's dialect: what comes of them stays there unless it is asked for."""

    def arrow(self, sql: str) -> pa.Table:
        """An answer that is known to be small."""
        ...

    def stream(self, sql: str, most: int) -> Iterator[pa.Table]:
        """An answer of so many rows at most, in batches that fit in memory."""
        ...

    def kept(self, sql: str) -> AbstractContextManager[str]:
        """The name of an answer that several statements need, computed once."""
        ...

    def given(self, table: pa.Table) -> AbstractContextManager[str]:
        """The name of a table of the caller's."""
        ...


@dataclass(eq=False, repr=False)
class OpenedRelation(ABC):
    """A relation that an engine has opened, as statements know it."""

    name: str
    sql_name: str
    columns: tuple[str, ...]
    source: Source
    coded: dict[str, CodedColumn] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def __len__(self) -> int: ...

    def __repr__(self) -> str:  # no values: they may be a provider's
        return f"{type(self).__name__}({self.name}: {len(self):,} rows)"

    def sql_column(self, attribute: str) -> str:
        return column_name(self.columns.index(attribute))

    def check_columns(self, attributes: Iterable[str]) -> None:
        """Raise if a question is about a column that the relation does not have."""
        SchemaError.check_there(attributes, self.columns, self.name)


def check_key(key: Iterable[str], where: str, *, without: int = 0, again: int = 0) -> None:
    """Raise if the key lacks a value in some rows, or has in some the value of another row."""
    named = ", ".join(key)
    if without:
        raise InputError(f"the key {named} of {where} is null in {without:,} rows; give columns that never are")
    if again:
        raise InputError(f"the key {named} of {where} repeats in {again:,} rows; give columns that tell all rows apart")


def distinct_values(sql: Sql, column: str, *relations: str) -> list[str | None]:
    """The values of a column, each once, sorted, a null last; over several relations, those of all."""
    values = " UNION ALL ".join(f"SELECT {column} AS value FROM {name}" for name in relations)
    found = sql.arrow(f"SELECT DISTINCT value FROM ({values}) ORDER BY value NULLS LAST").column(0)
    listed: list[str | None] = found.to_pylist()
    return listed


def coded_columns(sql: Sql, table: OpenedRelation, attributes: Sequence[str]) -> dict[str, CodedColumn]:
    """Whole columns as codes, all of them in one scan: each is joined with its distinct values."""
    values = {a: distinct_values(sql, table.sql_column(a), table.sql_name) for a in attributes}
    codes = [np.empty(len(table), dtype=code_type(len(known))) for known in values.values()]
    with ExitStack() as stack:
        outputs, joins = [], []
        for i, (attribute, known) in enumerate(values.items()):
            numbers = np.arange(len(known), dtype=np.int32)
            lookup = pa.table({"value": pa.array(known, pa.string()), "code": pa.array(numbers)})
            name = stack.enter_context(sql.given(lookup))
            has_null = bool(known) and known[-1] is None
            outputs.append(f"coalesce(d{i}.code, {len(known) - 1}) AS d{i}" if has_null else f"d{i}.code AS d{i}")
            joins.append(f"LEFT JOIN {name} AS d{i} ON t.{table.sql_column(attribute)} = d{i}.value")
        coding = f"SELECT t.{ROW}, {', '.join(outputs)} FROM {table.sql_name} AS t {' '.join(joins)}"
        for batch in sql.stream(coding, len(table)):
            rows, *columns = (column.to_numpy() for column in batch.columns)
            place(rows, columns, codes)
    return {a: CodedColumn(c, known) for (a, known), c in zip(values.items(), codes, strict=True)}


def rows_sql(table: OpenedRelation, columns: Sequence[str], wanted: str | None) -> str:
    """Columns of the rows that a table (row, position) names, in the order of the positions; or of all rows."""
    names = ", ".join(f"t.{table.sql_column(c)} AS {column_name(i)}" for i, c in enumerate(columns))
    if wanted is None:
        return f"SELECT {names} FROM {table.sql_name} AS t ORDER BY t.{ROW}"
    joined = f"{wanted} AS w JOIN {table.sql_name} AS t ON t.{ROW} = w.row"
    return f"SELECT {names} FROM {joined} ORDER BY w.position"


def search_rows(
    sql: Sql, table: OpenedRelation, text: str, columns: Sequence[str], first: int, last: int
) -> NDArray[np.int64]:
    """The rows of a stretch that have a text in one of the columns, upper case or lower."""
    with sql.given(pa.table({"text": [text.lower()]})) as wanted:
        has = " OR ".join(f"contains(lower(t.{table.sql_column(c)}), w.text)" for c in columns)
        stretch = f"t.{ROW} >= {int(first)} AND t.{ROW} < {int(last)}"
        found = sql.arrow(
            f"SELECT t.{ROW} AS {ROW} FROM {table.sql_name} AS t CROSS JOIN {wanted} AS w "
            f"WHERE {stretch} AND ({has}) ORDER BY {ROW}"
        )
    return np.asarray(found.column(0).to_numpy(), dtype=np.int64)


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
