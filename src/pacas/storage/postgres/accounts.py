"""Accounts in a ledger's schema of PostgreSQL."""

from __future__ import annotations

from contextlib import closing
from threading import Lock
from typing import Any

import psycopg

from pacas.storage.account_table import AccountTable
from pacas.storage.database import PATIENCE
from pacas.storage.postgres.address import PostgresPlace
from pacas.storage.postgres.faults import LOST, fault, problem
from pacas.storage.postgres.session import Session, close_soon, what_failed


class PostgresAccounts(AccountTable):
    """Accounts beside the ledger in its schema, which is made if it is not there."""

    def __init__(self, url: str) -> None:
        self._place = PostgresPlace.parse(url)
        self._lock = Lock()
        self._session = Session(self._place, PATIENCE)

    def __repr__(self) -> str:
        return f"PostgresAccounts({str(self._place)!r})"

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
                    connection.execute(f"SELECT pg_advisory_xact_lock({self._place.lock})".encode())
                    return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()
            except psycopg.Error as error:
                raise fault(self._place, LOST if connection.closed else problem(error)) from None
