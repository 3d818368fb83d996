"""SQL on a DuckDB connection: answers that several statements need are tables, which may spill to disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import duckdb
import pyarrow as pa

BATCH = 1 << 17
"""Rows that come from DuckDB at a time."""


class DuckConnection:
    """A connection, and the names that were given in it for a while. Whoever asks holds the connection's lock."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._numbers = count()

    def arrow(self, sql: str) -> pa.Table:
        return self._connection.sql(sql).to_arrow_table()

    def stream(self, sql: str, most: int) -> Iterator[pa.Table]:
        """An answer in batches; there may be any number of rows, so that `most` says nothing here."""
        for batch in self._connection.sql(sql).to_arrow_reader(BATCH):
            yield pa.Table.from_batches([batch])

    @contextmanager
    def kept(self, sql: str) -> Iterator[str]:
        name = f"pacas_kept_{next(self._numbers)}"
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
        try:
            yield name
        finally:
            self._connection.execute(f"DROP TABLE {name}")

    @contextmanager
    def given(self, table: pa.Table) -> Iterator[str]:
        name = f"pacas_given_{next(self._numbers)}"
        self._connection.register(name, table)
        try:
            yield name
        finally:
            self._connection.unregister(name)
