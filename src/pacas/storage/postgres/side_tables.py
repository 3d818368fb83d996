"""The tables beside a ledger in its schema of PostgreSQL, which is made if it is not there."""

from __future__ import annotations

from contextlib import closing
from threading import Lock

import psycopg

from pacas.provider.ledger.ledger import Ledger
from pacas.storage.database import PATIENCE
from pacas.storage.postgres.address import PostgresAddress
from pacas.storage.postgres.faults import LOST, fault, problem
from pacas.storage.postgres.ledger import PostgresLedger
from pacas.storage.postgres.session import BoundedConnection, Session, close_soon, what_failed
from pacas.storage.side_tables import Rows, SideDatabase, SideTable

_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?"


class PostgresSideDatabase(SideDatabase):
    """A ledger's schema."""

    def __init__(self, url: str, table: type[SideTable], *, make: bool = True) -> None:
        self._url, self._address, self._table = url, PostgresAddress.parse(url), table
        self._lock = Lock()
        self._session = Session(self._address, PATIENCE, make=make)
        columns = self._run(_COLUMNS, table.NAME)
        self._has_table = bool(columns)
        if self._has_table and table.additions([name for (name,) in columns]):
            self.make_table()

    def __str__(self) -> str:
        return str(self._address)

    def close(self) -> None:
        close_soon(self._lock, self._session)

    def read(self, statement: str, *values: object) -> Rows:
        self._has_table = self._has_table or bool(self._run(_COLUMNS, self._table.NAME))
        return self._run(statement, *values) if self._has_table else []

    def _run(self, statement: str, *values: object) -> Rows:
        with self._lock:
            connection = self._session.connection
            try:
                return _rows(connection, statement, *values)
            except psycopg.Error as error:
                raise what_failed(self._session, error) from None

    def make_table(self) -> None:
        self.write("SELECT 1")

    def write(self, statement: str, *values: object) -> Rows:
        """By a connection of its own, so that who reads does not wait with it for a sale to end."""
        if self._table.IS_APART and self._has_table:
            return self._run(statement, *values)
        with closing(self._session.another()) as connection:
            try:
                with connection.transaction():
                    connection.execute(f"SELECT pg_advisory_xact_lock({self._address.lock})".encode())
                    if not (columns := _rows(connection, _COLUMNS, self._table.NAME)):
                        connection.execute(self._table.CREATE.encode())
                    for addition in self._table.additions([name for (name,) in columns]) if columns else ():
                        connection.execute(addition.encode())
                    return _rows(connection, statement, *values)
            except psycopg.Error as error:
                raise fault(self._address, LOST if connection.closed else problem(error)) from None

    def open_ledger(self) -> Ledger:
        return PostgresLedger(self._url, make=False)


def _rows(connection: BoundedConnection, statement: str, *values: object) -> Rows:
    return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()
