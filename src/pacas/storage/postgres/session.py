"""A connection to the database that a ledger is in, set up as a ledger needs it, and made again after it was lost."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from time import monotonic
from typing import Any, Protocol

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composed, Identifier, Literal

from pacas.storage.database import FORKED
from pacas.storage.postgres.address import PostgresAddress
from pacas.storage.postgres.faults import LOST, fault, problem, refusal
from pacas.storage.postgres.tables import CREATE, LAYOUT

GRACE = 10.0
"""Seconds after a wait for others at which the server gives a statement up; twice that, and this side does."""
_DEFAULTS = {
    "connect_timeout": 10,
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "application_name": "pacas",
}
_SETTINGS = SQL("""
    SET client_encoding = 'UTF8';
    SET search_path = {schema};
    SET lock_timeout = {patience};
    SET statement_timeout = {limit};
    SET enable_seqscan = off;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    SET tcp_keepalives_idle = 30;
    SET default_transaction_isolation = 'read committed';
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
""")
"""A commit returns when it will outlast a crash; who is gone does not hold off others for long."""
_FOUND = SQL("""
    SELECT current_setting('server_encoding'),
        to_regnamespace({schema}) IS NOT NULL,
        to_regclass({layout}) IS NOT NULL,
        (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace({schema}))
""")


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that ends itself when it was waited for too long, or when another thread gives it up."""

    limit = 60.0
    """Seconds that a statement may take."""
    is_given_up = False

    def wait(self, gen: PQGen[RV], *given: Any, **options: Any) -> RV:
        return super().wait(self._bounded(gen), *given, **options)

    def _bounded(self, gen: PQGen[RV]) -> PQGen[RV]:
        """Take psycopg's steps as long as the limit allows: it comes by every 0.1 s even if nothing has arrived."""
        begun = monotonic()
        try:
            step = next(gen)
            while True:
                ready = yield step
                if not ready and (self.is_given_up or monotonic() - begun > self.limit):
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the server did not answer")
                step = gen.send(ready)
        except StopIteration as end:
            result: RV = end.value
            return result


class _Lock(Protocol):
    """A lock of either kind."""

    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool: ...

    def release(self) -> None: ...


class Session:
    """A connection that is there when it is asked for, unless PostgreSQL is away. For one thread at a time."""

    def __init__(self, address: PostgresAddress, patience: float, *, make: bool = True) -> None:
        self.address = address
        self._patience = patience
        self._process = os.getpid()
        self._is_closed = False
        self._connection = connect(address, patience, make=True) if make else None

    @property
    def connection(self) -> BoundedConnection:
        """The connection, made anew if the last one was lost."""
        if self._is_closed:
            raise fault(self.address, "is closed")
        self.check_process()
        if self._connection is None:
            self._connection = connect(self.address, self._patience)
        return self._connection

    def check_is_there(self) -> None:
        """Raise if there is no ledger, or PostgreSQL is away."""
        assert self.connection is not None

    def another(self) -> BoundedConnection:
        """A connection of its own, for its caller to close."""
        if self._is_closed:
            raise fault(self.address, "is closed")
        return connect(self.address, self._patience)

    def check_process(self) -> None:
        if os.getpid() != self._process:
            raise fault(self.address, FORKED)

    def dropped_if_lost(self) -> bool:
        """Let go of a connection that is of no more use."""
        if self._connection is None or self._connection.closed:
            self.drop()
            return True
        return False

    def drop_if_busy(self) -> None:
        """Let go of a connection that was left in the middle of something, as by an interrupt."""
        busy = (TransactionStatus.ACTIVE, TransactionStatus.INTRANS, TransactionStatus.INERROR)
        if self._connection is not None and self._connection.info.transaction_status in busy:
            self.drop()

    def drop(self) -> None:
        """Let go of the connection; the next use makes another."""
        lost, self._connection = self._connection, None
        if lost is not None:
            with suppress(psycopg.Error):
                lost.close()

    def give_up(self) -> None:
        """Close, from any thread: one that waits for the server waits no longer."""
        self._is_closed = True
        if (connection := self._connection) is not None:
            connection.is_given_up = True

    def close(self) -> None:
        self._is_closed = True
        if os.getpid() == self._process:
            self.drop()


def connect(address: PostgresAddress, patience: float, *, make: bool = False) -> BoundedConnection:
    """A connection to a ledger, every commit of it durable. Nothing is written to a schema that is no ledger."""
    connection = _connected(address)
    try:
        connection.limit = patience + 2 * GRACE
        connection.execute(_settings(address, patience))
        if not _is_there(connection, address):
            if not make:
                raise fault(address, "is no longer there; restore a copy")
            _make(connection, address)
        _check_layout(connection, address)
    except psycopg.Error as error:
        failed = fault(address, LOST if connection.closed else problem(error))
        connection.close()
        raise failed from None
    except BaseException:
        connection.close()
        raise
    return connection


def is_there(address: PostgresAddress) -> bool:
    """Whether there is a ledger."""
    with closing(_connected(address)) as connection:
        try:
            return _is_there(connection, address)
        except psycopg.Error as error:
            raise fault(address, LOST if connection.closed else problem(error)) from None


def _connected(address: PostgresAddress) -> BoundedConnection:
    try:
        given: dict[str, Any] = {**_DEFAULTS, **address.parameters}
        return BoundedConnection.connect(**given, autocommit=True)
    except (psycopg.Error, UnicodeError) as error:
        why = refusal(error) if isinstance(error, psycopg.Error) else "has a name that is no text"
        raise fault(address, why) from None


def _settings(address: PostgresAddress, patience: float) -> Composed:
    milliseconds = max(1, int(patience * 1000))
    limit = milliseconds + int(GRACE * 1000)
    return _SETTINGS.format(schema=Identifier(address.ledger), patience=Literal(milliseconds), limit=Literal(limit))


def _is_there(connection: psycopg.Connection[Any], address: PostgresAddress) -> bool:
    names = {"schema": Literal(address.ledger), "layout": Literal(f"{address.ledger}.layout")}
    row = connection.execute(_FOUND.format(**names)).fetchone()
    assert row is not None
    encoding, has_schema, has_layout, things = row
    if encoding != "UTF8":
        raise fault(address, f"needs a database in UTF8, and this one is in {encoding}; createdb --encoding UTF8")
    if has_schema and things and not has_layout:
        raise _not_ours(address)
    return bool(has_layout)


def _make(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    """A new, empty ledger, which is there whole or not at all; one that another process made first is kept."""
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({address.lock})")
        if _is_there(connection, address):
            return
        row = connection.execute("SELECT to_regnamespace(%s) IS NULL", (address.ledger,)).fetchone()
        if row == (True,):
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(address.ledger)))
        connection.execute(CREATE.encode())


def _check_layout(connection: psycopg.Connection[Any], address: PostgresAddress) -> None:
    try:
        row = connection.execute("SELECT application, version FROM layout").fetchone()
    except psycopg.errors.UndefinedColumn:
        row = None
    if row is None or row[0] != "pacas":
        raise _not_ours(address)
    if row[1] != LAYOUT:
        raise fault(address, f"has the layout {row[1]}, and this release reads layout {LAYOUT}")


def _not_ours(address: PostgresAddress) -> Exception:
    return fault(address, "is a schema of something else; nothing was written to it, name another with ?ledger=")


def what_failed(session: Session, error: psycopg.Error) -> Exception:
    """The error for a statement that failed; a connection that was lost is let go of."""
    return fault(session.address, LOST if session.dropped_if_lost() else problem(error))


def close_soon(lock: _Lock, session: Session) -> None:
    """Close a session when the thread that uses it is done, or has waited for the server for too long."""
    if not lock.acquire(timeout=GRACE):
        session.give_up()
        lock.acquire()
    try:
        session.close()
    finally:
        lock.release()
