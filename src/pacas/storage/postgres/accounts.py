"""Accounts in a ledger's schema of PostgreSQL."""

from __future__ import annotations

from contextlib import closing
from threading import Lock
from typing import Any

import psycopg

from pacas.storage.database import PATIENCE, AccountTable
from pacas.storage.postgres.address import PostgresAddress
from pacas.storage.postgres.faults import LOST, fault, problem
from pacas.storage.postgres.session import Session, close_soon, what_failed


class PostgresAccounts(AccountTable):
    """Accounts beside the ledger in its schema, which is made if it is not there."""

    def __init__(self, url: str) -> None:
        self._address = PostgresAddress.parse(url)
        self._lock = Lock()
        self._session = Session(self._address, PATIENCE)

    def __repr__(self) -> str:
        return f"PostgresAccounts({str(self._address)!r})"

    def close(self) -> None:
        close_soon(self._lock, self._session)

    def _read(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            connection = self._session.connection
            try:
                return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()
            except psycopg.Error as error:
                raise what_failed(self._session, error) from None

    def _write(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """By a connection of its own, so that who reads does not wait with it for a sale to end."""
        with closing(self._session.another()) as connection:
            try:
                with connection.transaction():
                    connection.execute(f"SELECT pg_advisory_xact_lock({self._address.lock})".encode())
                    return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()
            except psycopg.Error as error:
                raise fault(self._address, LOST if connection.closed else problem(error)) from None
