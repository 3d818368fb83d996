"""DuckDB in this process: how it starts, the tables that are named in it for a while, and its errors in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import duckdb
import pyarrow as pa

from pacas.core.words import counted
from pacas.errors import FileError

BATCH = 1 << 17
"""Rows that come from DuckDB at a time."""


def start_duckdb(spill: str, *, memory: str | None = None, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """DuckDB in this process, which spills to a folder and fetches nothing."""
    config: dict[str, Any] = {
        "temp_directory": spill,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if memory is not None:
        config["memory_limit"] = memory
    if threads is not None:
        config["threads"] = str(threads)
    return prepared(duckdb.connect(config=config))


def prepared(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A connection that writes nothing of its own, and tells times as on every machine."""
    # A bar would go to standard output. In a notebook that cannot show one it is off, and may not even be turned off.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    connection.execute("SET TimeZone = 'UTC'")  # a moment's text is the same on every machine
    return connection


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


@contextmanager
def reading(called: str) -> Iterator[None]:
    """Turn what DuckDB says about a relation into an error of ours."""
    try:
        yield
    except duckdb.Error as error:
        raise _file_error(called, error) from None


def _file_error(called: str, error: duckdb.Error) -> FileError:
    """DuckDB's words, which may quote a line of the data, as one line of ours, which does not."""
    message = str(error)
    at = re.search(r"Line: (\d+)", message)
    where = f"{called}, line {at[1]}" if at else called
    if "unicode" in message or "utf8" in message.lower().replace("-", ""):
        return FileError(f"{where}: bytes that are not UTF-8; say how it is encoded (--encoding latin-1)")
    if found := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return FileError(f"{where}: {counted(int(found[2]), 'field')} where the header has {found[1]}")
    if isinstance(error, duckdb.OutOfMemoryException):
        return FileError(f"{called} takes more than the memory that was given; give more, with --memory or `memory`")
    if "line size" in message.lower():
        return FileError(f"{where}: a line of many million bytes; is a quote left open?")
    if "unterminated quote" in message.lower() or "quoted value" in message.lower():
        return FileError(f"{where}: a quoted field that does not end as one")
    if "state machine" in message:
        return FileError(
            f"{where}: line ends of several kinds, or a quote inside a field; try dos2unix, or look for quotes"
        )
    return FileError(
        f"{where}: cannot be read ({type(error).__name__}); is it complete, and of the kind its name says?"
    )
