"""Accounts in a ledger's SQLite file. One from before there were accounts gets their table with the first of them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any

from pacas.storage.database import CREATE_ACCOUNT, FORKED, AccountTable
from pacas.storage.sqlite.faults import fault, faults_as_storage_errors
from pacas.storage.sqlite.ledger import connect_again, open_file


class SqliteAccounts(AccountTable):
    """Accounts beside the ledger in its file, which is made if it is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._process = os.getpid()
        self._has_table = False
        self._connection = open_file(path)

    def __repr__(self) -> str:
        return f"SqliteAccounts({self._path.name!r})"

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _read(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._run(self._connection, statement, *values) if self._table_is_there() else []

    def _write(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """By a connection of its own, so that who reads does not wait with it for a sale to end."""
        with closing(connect_again(self._path)) as connection:
            self._run(connection, CREATE_ACCOUNT)
            return self._run(connection, statement, *values)

    def _table_is_there(self) -> bool:
        if not self._has_table:
            found = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'account'"
            self._has_table = bool(self._run(self._connection, found))
        return self._has_table

    def _run(self, connection: sqlite3.Connection, statement: str, *values: object) -> list[tuple[Any, ...]]:
        if os.getpid() != self._process:
            raise fault(self._path, FORKED)
        with faults_as_storage_errors(self._path):
            return connection.execute(statement, values).fetchall()
