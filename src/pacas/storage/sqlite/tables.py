"""A ledger's tables and the few statements that read and write them.

    entry   one row for each entry; the opening has no buyer, key and price
    head    one row: how many entries there are, and the hash of the last
    total   one row for each buyer

Whole numbers and text only, and no statement after the tables are made that PostgreSQL would not take with its own
placeholders. A purchase writes as few pages as can be: their syncing is what a purchase takes most of its time for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import partial

from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.chain import EMPTY, Head, Link, Total
from pacas.provider.ledger.entry import Record
from pacas.storage.database import LINKS, OF_ONE_BUYER
from pacas.storage.side_tables import (
    ENTERED,
    EVERY_ACCOUNT,
    NOT_ENTERED,
    PUT_ACCOUNT,
    AccountTable,
    accounts_of,
    put_values,
)

CREATE = (
    """CREATE TABLE entry (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL,
        buyer TEXT,
        idempotency_key TEXT,
        price INTEGER,
        details TEXT NOT NULL,
        UNIQUE (buyer, idempotency_key)
    )""",
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE total (buyer TEXT PRIMARY KEY, purchases INTEGER NOT NULL, spent INTEGER NOT NULL) WITHOUT ROWID",
    f"INSERT INTO head VALUES (1, {EMPTY.entries}, '{EMPTY.hash}')",
)

_ENTRY = "SELECT sequence, previous, hash, buyer, idempotency_key, price, details FROM entry"


class SqliteTables:
    """The tables, over one connection. Text that is no UTF-8 reads as other text, and so breaks the chain.

    What a transaction has written last is known until its end, and the head record and totals are written there once.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        self._connection = connection
        self._last: Record | None = None
        self._totals: dict[str, Total] = {}

    def finish(self) -> None:
        """Write what waits for the transaction's end."""
        if self._last is not None:
            self._connection.execute("UPDATE head SET entries = ?, hash = ?", _head_of(self._last))
        self._connection.executemany(
            "INSERT INTO total VALUES (?, ?, ?)"
            " ON CONFLICT (buyer) DO UPDATE SET purchases = excluded.purchases, spent = excluded.spent",
            [(buyer, *total) for buyer, total in self._totals.items()],
        )
        self.forget()

    def forget(self) -> None:
        """Nothing waits: the transaction has ended, or is undone."""
        self._last = None
        self._totals.clear()

    def record(self, sequence: int) -> Record | None:
        return self._first(f"{_ENTRY} WHERE sequence = ?", (sequence,))

    def bought(self, buyer: str, idempotency_key: str) -> Record | None:
        return self._first(f"{_ENTRY} WHERE buyer = ? AND idempotency_key = ?", (buyer, idempotency_key))

    def look_ahead(self, purchases: Iterable[tuple[str, str]]) -> None:
        pass  # to ask once more takes no time here

    def bought_by(self, buyer: str, after: int, limit: int, *, few: bool) -> list[Record]:
        rows = self._connection.execute(f"{_ENTRY} WHERE {OF_ONE_BUYER[few]}", (buyer, after, limit))
        return list(map(Record._make, rows))

    def page(self, start: int, limit: int) -> list[Record]:
        if self._last is not None and start == self._last.sequence:
            return [self._last]
        rows = self._connection.execute(f"{_ENTRY} WHERE sequence >= ? ORDER BY sequence LIMIT ?", (start, limit))
        return list(map(Record._make, rows))

    def links(self, start: int, limit: int) -> list[Link]:
        return self._connection.execute(LINKS, (start, limit)).fetchall()

    def head(self) -> Head | None:
        if self._last is not None:
            return _head_of(self._last)
        row = self._connection.execute("SELECT entries, hash FROM head").fetchone()
        return None if row is None else Head._make(row)

    def total(self, buyer: str) -> Total:
        if (known := self._totals.get(buyer)) is not None:
            return known
        row = self._connection.execute("SELECT purchases, spent FROM total WHERE buyer = ?", (buyer,)).fetchone()
        return Total() if row is None else Total._make(row)

    def totals(self) -> dict[str, Total]:
        rows = self._connection.execute("SELECT buyer, purchases, spent FROM total")
        return {buyer: Total(purchases, spent) for buyer, purchases, spent in rows} | self._totals

    def damage(self) -> str | None:
        (found,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        return None if found == "ok" else "the database file is damaged, or an index does not fit its table"

    def accounts(self) -> list[Account]:
        return self._accounts(EVERY_ACCOUNT)

    def not_entered(self) -> list[Account]:
        return self._accounts(NOT_ENTERED, ENTERED)

    def put_account(self, account: Account) -> None:
        self._connection.execute(PUT_ACCOUNT, put_values(account))

    def write(self, record: Record, total: Total | None) -> None:
        self._connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", record)
        self._last = record
        if total is not None:
            assert record.buyer is not None  # who has bought
            self._totals[record.buyer] = total

    def remove_opening(self) -> None:
        self._connection.execute("DELETE FROM entry WHERE sequence = 0")

    def _accounts(self, statement: str, parameters: tuple[str, ...] = ()) -> list[Account]:
        if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (AccountTable.NAME,)).fetchone():
            return []
        rows = self._connection.execute(statement, parameters)
        return accounts_of([name for name, *_ in rows.description], rows)

    def _first(self, statement: str, parameters: tuple[object, ...]) -> Record | None:
        row = self._connection.execute(statement, parameters).fetchone()
        return None if row is None else Record._make(row)


def _head_of(last: Record) -> Head:
    return Head(last.sequence + 1, last.hash)
