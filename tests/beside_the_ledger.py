"""What somebody does to a ledger's database without PACAS, or did with an earlier release of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib import import_module
from typing import Any

OLDER = """CREATE TABLE account (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, credit BIGINT, revoked BIGINT NOT NULL, token_hash TEXT NOT NULL UNIQUE
)"""
"""The table of a release that knew neither rates nor ends of tokens."""


def run_beside(url: str, *statements: str) -> None:
    """What another release might have done to a ledger's database."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            for statement in statements:
                connection.execute(statement)
    else:
        postgres: Any = import_module("pacas.storage.postgres.session")
        address = import_module("pacas.storage.postgres.address").PostgresAddress.parse(url)
        with closing(postgres.connect(address, 30.0)) as connection:
            for statement in statements:
                connection.execute(statement)
