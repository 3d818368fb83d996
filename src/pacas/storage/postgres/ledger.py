"""Ledgers in PostgreSQL, for providers on several machines; each in a schema of its own.

Every purchase is durable before it counts. Writers wait for each other by an advisory lock, until what one has written
can be read; then each waits for the disk by itself. Readers wait for nobody, but that what they tell is durable. A
connection that was lost is one error; the next use makes another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg

from pacas.provider.ledger.chain import Records
from pacas.provider.ledger.ledger import Store
from pacas.storage.database import PATIENCE, UNDONE, DatabaseLedger, utc_seconds
from pacas.storage.postgres.address import PostgresAddress
from pacas.storage.postgres.faults import LOST, fault, problem
from pacas.storage.postgres.session import Session, close_soon, what_failed
from pacas.storage.postgres.tables import PREPARE, DurableEntries, PostgresTables


class PostgresLedger(DatabaseLedger):
    """A ledger in a schema of a PostgreSQL database; the schema is made if it is not there, and may be."""

    def __init__(
        self, url: str, *, patience: float = PATIENCE, clock: Callable[[], int] = utc_seconds, make: bool = True
    ) -> None:
        super().__init__(clock)
        self._address = PostgresAddress.parse(url)
        self._session = Session(self._address, patience, make=make)
        self._session.check_is_there()
        self._known_tables: PostgresTables | None = None
        self._durable = DurableEntries()
        self._second = Session(self._address, patience, make=False)
        self._read_past: PostgresTables | None = None
        self._is_undone = False

    def __repr__(self) -> str:
        return f"PostgresLedger({str(self._address)!r})"

    def close(self) -> None:
        close_soon(self._lock, self._session)
        close_soon(self._reading, self._second)

    def _open_tables(self, is_first: bool) -> Store:
        if not is_first:  # this connection is made when it is first needed
            self._read_past = PostgresTables(self._second.connection, self._address.lock, self._durable)
            return self._read_past
        if self._depth:
            self._check_not_undone()
        return self._tables()

    def _fault_of(self, error: BaseException | None, is_first: bool) -> Exception | None:
        if error is None:
            error = self._not_settled(is_first)
        if not isinstance(error, psycopg.Error):
            return None
        return self._failed(error) if is_first else what_failed(self._second, error)

    def _not_settled(self, is_first: bool) -> psycopg.Error | None:
        """Wait until what was read is durable; in a transaction its end does. What went wrong with that."""
        tables = self._known_tables if is_first else self._read_past
        try:
            if tables is not None and not (is_first and self._depth):
                tables.settle()
        except psycopg.Error as error:
            return error
        return None

    @contextmanager
    def _snapshot(self) -> Iterator[Records]:
        with closing(self._session.another()) as connection:
            try:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                tables = PostgresTables(connection, self._address.lock, self._durable)
                tables.head()  # the moment is that of the first read
                yield tables
            except psycopg.Error as error:
                raise fault(self._address, LOST if connection.closed else problem(error)) from None

    def _tables(self) -> PostgresTables:
        """The tables, over the connection that there is now."""
        connection = self._session.connection
        if self._known_tables is None or self._known_tables.connection is not connection:
            try:
                connection.execute(PREPARE.encode())
            except psycopg.Error as error:
                failed = what_failed(self._session, error)
                self._session.drop()
                raise failed from None
            self._known_tables = PostgresTables(connection, self._address.lock, self._durable)
        return self._known_tables

    def _begin(self) -> None:
        if self._depth == 0:
            self._session.drop_if_busy()
            self._tables().begin()
            self._is_undone = False
        else:
            self._check_not_undone()

    def _commit(self) -> None:
        self._check_not_undone()
        assert self._known_tables is not None  # those that the transaction began with
        try:
            self._known_tables.commit()
        except psycopg.Error as error:
            raise self._failed(error) from None

    def _roll_back(self) -> None:
        """Undo what was begun; if not even that can be said to the server, it will do so when the connection ends."""
        if self._is_undone or self._known_tables is None:
            return
        self._is_undone = True
        try:
            self._known_tables.roll_back()
        except psycopg.Error:
            self._session.drop()

    def _failed(self, error: psycopg.Error) -> Exception:
        """A statement failed, and with it the whole transaction around it."""
        failed = what_failed(self._session, error)
        self._roll_back()
        return failed

    def _check_not_undone(self) -> None:
        self._session.check_process()
        if self._is_undone:
            raise fault(self._address, UNDONE)
