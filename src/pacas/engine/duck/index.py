"""Rows by what they hold, ready to be looked up many times: a table on DuckDB's disk, in order of the keys' hash.

Rows whose hashes begin alike stand together. What DuckDB notes of each stretch of a table, the least and the greatest
value, then tells it which few stretches a look-up has to read. The order is that of buckets, and not of single hashes:
that takes half the time to make.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import RLock

import duckdb
import numpy as np
import pyarrow as pa

from pacas.engine.contract import Hierarchies
from pacas.engine.duck.connection import reading
from pacas.engine.sql.group_statements import linked_sql
from pacas.engine.sql.statements import ROW, OpenedRelation, literal

ROWS_OF_A_BUCKET = 1 << 15
HASH_BITS = 64


class DuckIndex:
    """The entries of a table, as `name`.entries: (hash, row, k0, k1, …, c0, c1, …)."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        lock: RLock,
        name: str,
        table: OpenedRelation,
        by: Sequence[str],
        columns: Sequence[str],
        hierarchies: Hierarchies,
    ) -> None:
        self._connection, self._lock, self._name, self._called = connection, lock, name, table.name
        self._by, self._columns = tuple(by), tuple(columns)
        self._linked = [hierarchies.get(attribute) for attribute in by]
        self._keys = [f"k{i}" for i in range(len(by))]
        self._texts = {a: self._text(a, i, hierarchies) for i, a in enumerate(columns)}
        with lock, reading(table.name):
            self._file = _attach(connection, name)
            self._remove = weakref.finalize(self, self._file.unlink, missing_ok=True)
            connection.execute(self._entries_sql(table))
            self._rows = int(connection.sql(f"SELECT count(*) FROM {name}.entries").fetchall()[0][0])

    def __len__(self) -> int:
        return self._rows

    def find(self, values: pa.Table, most: int | None = None) -> pa.Table:
        texts = [values.column(attribute).cast(pa.string()) for attribute in self._by]
        lines = pa.table([pa.array(np.arange(len(values))), *texts], names=["line", *self._keys])
        keys = ", ".join(
            f"{linked_sql(k, hierarchy)} AS {k}" for k, hierarchy in zip(self._keys, self._linked, strict=True)
        )
        hashed = f"SELECT *, hash({', '.join(self._keys)}) AS hash FROM (SELECT line, {keys} FROM {self._name}_lines)"
        same = " AND ".join(f"e.{column} = v.{column}" for column in ("hash", *self._keys))
        few = " QUALIFY row_number() OVER (PARTITION BY v.line ORDER BY e.row)"
        sql = f"SELECT v.line, {self._listed()} FROM ({hashed}) AS v JOIN {self._name}.entries AS e ON {same}"
        sql += ("" if most is None else f"{few} <= {most + 1}") + " ORDER BY v.line, e.row"
        with self._lock, reading(self._called):
            self._connection.register(f"{self._name}_lines", lines)
            try:
                return self._connection.sql(sql).to_arrow_table().rename_columns(["line", "row", *self._columns])
            finally:
                self._connection.unregister(f"{self._name}_lines")

    def batches(self, rows: int, most: int) -> Iterator[pa.Table]:
        parts = -(-self._rows // rows)
        ends = [(part << HASH_BITS) // max(parts, 1) for part in range(parts + 1)]
        few = f"QUALIFY row_number() OVER (PARTITION BY {', '.join(f'e.{k}' for k in self._keys)} ORDER BY e.row)"
        for start, end in pairwise(ends):
            within = f"e.hash BETWEEN {start}::UBIGINT AND {end - 1}::UBIGINT"
            sql = (
                f"SELECT {self._listed()} FROM {self._name}.entries AS e WHERE {within} {few} <= {most} ORDER BY e.row"
            )
            with self._lock, reading(self._called):
                found = self._connection.sql(sql).to_arrow_table()
            yield found.rename_columns(["row", *self._columns])

    def close(self) -> None:
        with self._lock:
            self._connection.execute(f"DETACH DATABASE IF EXISTS {self._name}")
        self._remove()

    def _text(self, attribute: str, place: int, hierarchies: Hierarchies) -> str:
        """What an attribute's text is called: the key itself, where the key is the text."""
        by_number = attribute in hierarchies and hierarchies[attribute].numeric
        return f"c{place}" if by_number or attribute not in self._by else f"k{self._by.index(attribute)}"

    def _entries_sql(self, table: OpenedRelation) -> str:
        keys = [
            f"{linked_sql(table.sql_column(attribute), hierarchy)} AS {key}"
            for attribute, hierarchy, key in zip(self._by, self._linked, self._keys, strict=True)
        ]
        texts = [f"{table.sql_column(a)} AS {name}" for a, name in self._texts.items() if name not in self._keys]
        rows = f"SELECT {ROW} AS row, {', '.join([*keys, *texts])} FROM {table.sql_name}"
        there = " AND ".join(f"{key} IS NOT NULL" for key in self._keys)
        hashed = f"SELECT hash({', '.join(self._keys)}) AS hash, * FROM ({rows}) WHERE {there}"
        bits = max((len(table) // ROWS_OF_A_BUCKET).bit_length(), 1)
        return f"CREATE TABLE {self._name}.entries AS {hashed} ORDER BY hash >> {HASH_BITS - bits}"

    def _listed(self) -> str:
        return ", ".join(["e.row", *(f"e.{name} AS c{i}" for i, name in enumerate(self._texts.values()))])


def _attach(connection: duckdb.DuckDBPyConnection, name: str) -> Path:
    """A database of its own, in the folder that DuckDB spills to: it is read piece by piece, within DuckDB's memory."""
    folder = connection.sql("SELECT current_setting('temp_directory')").fetchall()[0][0]
    file = Path(str(folder)) / f"{name}.index"
    connection.execute(f"ATTACH {literal(str(file))} AS {name}")
    return file
