"""Relations: named columns, rows numbered from 0 in the order they came.

Paper: §2.1. A `Relation` wraps an Arrow table and keeps its types; what a value *is* (its text, or null for an
empty cell) is decided in one place, the engine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from pacas.errors import InputError, SchemaError


@runtime_checkable
class ArrowTabular(Protocol):
    """Anything that hands over its rows through Arrow's interchange: pandas, Polars, DuckDB, Arrow itself."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """A table in memory.

    >>> Relation.of({"GEN": ["male", "female"], "AGE": [51, None]})
    Relation(2 rows: GEN, AGE)
    """

    table: pa.Table

    @classmethod
    def of(cls, data: Relation | ArrowTabular | Mapping[str, Sequence[Any]]) -> Relation:
        """A relation from a pandas or Polars frame, an Arrow or DuckDB table, or a mapping of columns."""
        if isinstance(data, Relation):
            return data
        if not isinstance(data, Mapping | ArrowTabular):
            raise InputError(
                f"cannot read a relation from {type(data).__name__}; "
                "give a pandas, Polars, Arrow or DuckDB table, or pacas.scan_relation(path) for a file"
            )
        if isinstance(data, Mapping):
            columns = {name: _array(name, values) for name, values in data.items()}
            if len({len(column) for column in columns.values()}) > 1:
                lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
                raise InputError(f"the columns differ in length: {lengths}")
            table = pa.table(columns)
        else:
            try:
                table = pa.table(data)
            except (pa.ArrowException, TypeError, ValueError) as error:
                check_columns(
                    list(map(str, getattr(data, "columns", ["?"]))), "the table"
                )  # pandas allows doubled ones
                raise _mixed_types(str(error)) from None
        check_columns(table.column_names, "the table")
        return cls(table)

    @property
    def name(self) -> str:
        """How messages call it."""
        return "the table"

    @property
    def columns(self) -> list[str]:
        return list(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        return self.table

    def to_pandas(self) -> Any:
        """As a pandas frame, if pandas is installed."""
        try:
            import pandas  # noqa: F401  it is the user's to install; Arrow does not say so if it is missing
        except ImportError:
            raise _not_installed("pandas") from None
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """As a Polars frame, if Polars is installed."""
        try:
            import polars  # it is the user's to install
        except ImportError:
            raise _not_installed("polars") from None
        return polars.DataFrame(self)

    def __repr__(self) -> str:  # no values: they may be a provider's
        return f"Relation({len(self):,} rows: {', '.join(self.columns)})"


def _array(name: str, values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError):
        raise _mixed_types(f"for column {name} with") from None


def _not_installed(library: str) -> InputError:
    return InputError(
        f"to_{library}() needs {library}, which is not installed here; pip install {library}, or take to_arrow()"
    )


def _mixed_types(message: str) -> InputError:
    """Arrow's complaint without its words, which quote a cell."""
    named = re.search(r"for column (.+) with", message)
    column = f"column {named[1]!r}" if named else "a column"
    return InputError(f"{column} of the table holds values of several types; make it text throughout")


def no_such_row(row: int, relation: Sized, where: str) -> InputError:
    """A row that a relation does not have, and which ones it has."""
    rows = f"its rows are 0 to {len(relation) - 1:,}" if len(relation) else "it has no rows"
    return InputError(f"no row {row:,} in {where}; {rows}")


def check_columns(columns: Sequence[str], where: str) -> None:
    """Raise if a column has no name or two have the same one."""
    if not columns:
        raise SchemaError(f"no columns in {where}")
    twice = [name for name, n in Counter(columns).items() if n > 1]
    if twice:
        raise SchemaError(f"column {twice[0]!r} stands {columns.count(twice[0])} times in {where}; rename one of them")
    if "" in columns:
        raise SchemaError(f"column {list(columns).index('') + 1} of {where} has no name")
