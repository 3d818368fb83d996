"""Accounts and refusals in a ledger's SQLite file, which is made if it is not there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock

from pacas.storage.database import FORKED
from pacas.storage.side_tables import AccountTable, CircleTable, OfferTable, RefusalTable, Rows, ServingTable, SideTable
from pacas.storage.sqlite.faults import fault, faults_as_storage_errors
from pacas.storage.sqlite.ledger import connect_again, open_file


class SqliteSideTable(SideTable):
    """A table beside the ledger in its file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._process = os.getpid()
        self._has_table = False
        self._connection = open_file(path)
        if self._table_is_there() and any(self._additions(self._connection)):
            self._make_ready(self._connection)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._path.name!r})"

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _read(self, statement: str, *values: object) -> Rows:
        with self._lock:
            return self._run(self._connection, statement, *values) if self._table_is_there() else []

    def _write(self, statement: str, *values: object) -> Rows:
        """By a connection of its own, so that who reads does not wait with it for a sale to end."""
        with closing(connect_again(self._path)) as connection:
            self._make_ready(connection)
            return self._run(connection, statement, *values)

    def _table_is_there(self) -> bool:
        if not self._has_table:
            found = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
            self._has_table = bool(self._run(self._connection, found, self.NAME))
        return self._has_table

    def _make_ready(self, connection: sqlite3.Connection) -> None:
        """Make the table, and the columns that one of an earlier release lacks."""
        self._run(connection, self.CREATE)
        if not any(self._additions(connection)):
            return
        self._run(connection, "BEGIN IMMEDIATE")  # another process may be about to do the same
        try:
            for statement in self._additions(connection):
                self._run(connection, statement)
        finally:
            self._run(connection, "COMMIT")

    def _additions(self, connection: sqlite3.Connection) -> list[str]:
        columns = self._run(connection, f"SELECT name FROM pragma_table_info('{self.NAME}')")
        return list(self.additions([name for (name,) in columns]))

    def _run(self, connection: sqlite3.Connection, statement: str, *values: object) -> Rows:
        if os.getpid() != self._process:
            raise fault(self._path, FORKED)
        with faults_as_storage_errors(self._path):
            return connection.execute(statement, values).fetchall()


class SqliteAccounts(SqliteSideTable, AccountTable):
    """Accounts in a ledger's file. One from before there were accounts gets their table with the first of them."""


class SqliteCircle(SqliteSideTable, CircleTable):
    """A clearing house in a file of its own."""


class SqliteOffers(SqliteSideTable, OfferTable):
    """Private offers in a ledger's file."""


class SqliteRefusals(SqliteSideTable, RefusalTable):
    """Refusals in a ledger's file."""


class SqliteServing(SqliteSideTable, ServingTable):
    """The processes that serve, in a ledger's file."""
