"""Accounts and refusals in a ledger's schema of PostgreSQL, which is made if it is not there."""

from __future__ import annotations

from contextlib import closing
from threading import Lock

import psycopg

from pacas.storage.database import PATIENCE
from pacas.storage.postgres.address import PostgresAddress
from pacas.storage.postgres.faults import LOST, fault, problem
from pacas.storage.postgres.session import BoundedConnection, Session, close_soon, what_failed
from pacas.storage.side_tables import AccountTable, CircleTable, OfferTable, RefusalTable, Rows, ServingTable, SideTable

_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?"


class PostgresSideTable(SideTable):
    """A table beside the ledger in its schema."""

    def __init__(self, url: str, *, make: bool = True) -> None:
        self._address = PostgresAddress.parse(url)
        self._lock = Lock()
        self._session = Session(self._address, PATIENCE, make=make)
        columns = self._run(_COLUMNS, self.NAME)
        self._has_table = bool(columns)
        if self._has_table and any(self.additions([name for (name,) in columns])):
            self._write("SELECT 1")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._address)!r})"

    def close(self) -> None:
        close_soon(self._lock, self._session)

    def _read(self, statement: str, *values: object) -> Rows:
        self._has_table = self._has_table or bool(self._run(_COLUMNS, self.NAME))
        return self._run(statement, *values) if self._has_table else []

    def _run(self, statement: str, *values: object) -> Rows:
        with self._lock:
            connection = self._session.connection
            try:
                return _rows(connection, statement, *values)
            except psycopg.Error as error:
                raise what_failed(self._session, error) from None

    def _write(self, statement: str, *values: object) -> Rows:
        """By a connection of its own, so that who reads does not wait with it for a sale to end."""
        with closing(self._session.another()) as connection:
            try:
                with connection.transaction():
                    connection.execute(f"SELECT pg_advisory_xact_lock({self._address.lock})".encode())
                    if not (columns := _rows(connection, _COLUMNS, self.NAME)):
                        connection.execute(self.CREATE.encode())
                    for addition in self.additions([name for (name,) in columns]) if columns else ():
                        connection.execute(addition.encode())
                    return _rows(connection, statement, *values)
            except psycopg.Error as error:
                raise fault(self._address, LOST if connection.closed else problem(error)) from None


def _rows(connection: BoundedConnection, statement: str, *values: object) -> Rows:
    return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()


class PostgresAccounts(PostgresSideTable, AccountTable):
    """Accounts in a ledger's schema."""


class PostgresCircle(PostgresSideTable, CircleTable):
    """A clearing house in a schema of its own, where nobody waits for the writer of a ledger."""

    def _write(self, statement: str, *values: object) -> Rows:
        return self._run(statement, *values) if self._has_table else super()._write(statement, *values)


class PostgresOffers(PostgresSideTable, OfferTable):
    """Private offers in a ledger's schema."""


class PostgresRefusals(PostgresSideTable, RefusalTable):
    """Refusals in a ledger's schema."""


class PostgresServing(PostgresSideTable, ServingTable):
    """The processes that serve, in a ledger's schema."""
