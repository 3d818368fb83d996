"""The tables beside a ledger in its SQLite file, which is made if it is not there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock

from pacas.provider.ledger.ledger import Ledger
from pacas.storage.database import FORKED
from pacas.storage.side_tables import Rows, SideDatabase, SideTable
from pacas.storage.sqlite.faults import fault, faults_as_storage_errors
from pacas.storage.sqlite.ledger import SqliteLedger, connect_again, open_file


class SqliteSideDatabase(SideDatabase):
    """A ledger's file. One from before there was such a table gets it with the first row."""

    def __init__(self, path: Path, table: type[SideTable]) -> None:
        self._path, self._table = path, table
        self._lock = Lock()
        self._process = os.getpid()
        self._has_table = False
        self._connection = open_file(path)
        if self._table_is_there() and any(self._additions(self._connection)):
            self.make_table()

    def __str__(self) -> str:
        return self._path.name

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def read(self, statement: str, *values: object) -> Rows:
        with self._lock:
            return self._run(self._connection, statement, *values) if self._table_is_there() else []

    def write(self, statement: str, *values: object) -> Rows:
        """By a connection of its own, so that who reads does not wait with it for a sale to end."""
        self.make_table()
        with closing(connect_again(self._path)) as connection:
            return self._run(connection, statement, *values)

    def _table_is_there(self) -> bool:
        if not self._has_table:
            found = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
            self._has_table = bool(self._run(self._connection, found, self._table.NAME))
        return self._has_table

    def make_table(self) -> None:
        with closing(connect_again(self._path)) as connection:
            self._run(connection, self._table.CREATE)
            if not any(self._additions(connection)):
                return
            self._run(connection, "BEGIN IMMEDIATE")  # another process may be about to do the same
            try:
                for statement in self._additions(connection):
                    self._run(connection, statement)
            finally:
                self._run(connection, "COMMIT")

    def _additions(self, connection: sqlite3.Connection) -> list[str]:
        columns = self._run(connection, f"SELECT name FROM pragma_table_info('{self._table.NAME}')")
        return self._table.additions([name for (name,) in columns])

    def _run(self, connection: sqlite3.Connection, statement: str, *values: object) -> Rows:
        if os.getpid() != self._process:
            raise fault(self._path, FORKED)
        with faults_as_storage_errors(self._path):
            return connection.execute(statement, values).fetchall()

    def open_ledger(self) -> Ledger:
        return SqliteLedger(self._path)
