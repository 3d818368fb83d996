"""Whole copies of a ledger in PostgreSQL, as SQLite files: read at one moment, and written in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg

from pacas.storage.database import PATIENCE
from pacas.storage.postgres.address import PostgresAddress
from pacas.storage.postgres.faults import LOST, fault, problem
from pacas.storage.postgres.session import BoundedConnection, connect
from pacas.storage.side_tables import AccountTable, CheckpointTable, OfferTable, RefusalTable

OWN = ("entry", "head", "total")
BESIDE = (AccountTable, OfferTable, RefusalTable, CheckpointTable)
PART = 5000
"""Rows that are held in memory at a time."""


def copy_of(url: str) -> Callable[[sqlite3.Connection], None]:
    """What fills a copy: all of a ledger's schema as of one moment, whoever sells from it meanwhile."""

    def fill(copy: sqlite3.Connection) -> None:
        def read(connection: BoundedConnection) -> None:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            copy.execute("BEGIN")
            for table in (*OWN, *(one.NAME for one in BESIDE)):
                _read_table(connection, copy, table)
            copy.execute("COMMIT")

        for one in BESIDE:
            copy.execute(one.CREATE)
        _with_connection(url, read)

    return fill


def put_in_place(source: sqlite3.Connection, url: str) -> None:
    """Put what a copy holds in a ledger's place, at once: who serves it finds that it does not hold what was known."""

    def write(connection: BoundedConnection) -> None:
        with connection.transaction():
            lock = PostgresAddress.parse(url).lock
            connection.execute(f"SELECT pg_advisory_xact_lock({lock})".encode())
            for one in BESIDE:
                connection.execute(one.CREATE.encode())
                for column, kind in one.LATER.items():  # of a table that an earlier release has made
                    connection.execute(f"ALTER TABLE {one.NAME} ADD COLUMN IF NOT EXISTS {column} {kind}".encode())
            for table in (*OWN, *(one.NAME for one in BESIDE)):
                _write_table(source, connection, table)

    _with_connection(url, write, make=True)


def _read_table(connection: BoundedConnection, copy: sqlite3.Connection, table: str) -> None:
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone()
    if found is None or not found[0]:
        return
    there = {one.name for one in connection.execute(f"SELECT * FROM {table} LIMIT 0".encode()).description or ()}
    names = [name for (_, name, *_) in copy.execute(f"PRAGMA table_info({table})") if name in there]
    copy.execute(f"DELETE FROM {table}")  # a new head record
    with connection.cursor(name=f"copy_{table}") as cursor:
        cursor.execute(f"SELECT {', '.join(names)} FROM {table}".encode())
        while rows := cursor.fetchmany(PART):
            copy.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", rows)


def _write_table(source: sqlite3.Connection, connection: BoundedConnection, table: str) -> None:
    connection.execute(f"DELETE FROM {table}".encode())
    names = [name for (_, name, *_) in source.execute(f"PRAGMA table_info({table})")]
    if not names:
        return
    rows = source.execute(f"SELECT {', '.join(names)} FROM {table}")
    places = ", ".join(["%s"] * len(names))
    with connection.cursor() as cursor:
        while some := rows.fetchmany(PART):
            cursor.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})".encode(), some)


def _with_connection(url: str, act: Callable[[BoundedConnection], Any], *, make: bool = False) -> None:
    address = PostgresAddress.parse(url)
    with closing(connect(address, PATIENCE, make=make)) as connection:
        try:
            act(connection)
        except psycopg.Error as error:
            raise fault(address, LOST if connection.closed else problem(error)) from None
