"""Accounts in a ledger's schema of PostgreSQL."""

from __future__ import annotations

from threading import Lock
from typing import Any

import psycopg

from .account_table import AccountTable
from .postgres_place import PostgresPlace
from .postgres_session import Session, what_failed
from .transaction import PATIENCE


class PostgresAccounts(AccountTable):
    """Accounts beside the ledger in its schema, which is made if it is not there."""

    def __init__(self, url: str) -> None:
        self._place = PostgresPlace.parse(url)
        self._lock = Lock()
        self._session = Session(self._place, PATIENCE)

    def __repr__(self) -> str:
        return f"PostgresAccounts({str(self._place)!r})"

    def close(self) -> None:
        with self._lock:
            self._session.close()

    def _read(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            connection = self._session.connection
            try:
                return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()
            except psycopg.Error as error:
                raise what_failed(self._session, error) from None

    _write = _read
