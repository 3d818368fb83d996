"""A ledger's tables in PostgreSQL and the few statements that read and write them: those of SQLite, and `layout`.

A round trip to the server takes longer than what is done there, so a purchase has two of them: one begins its
transaction, holds off other writers and reads all that a sale needs; one writes, commits and syncs. For that,
statements are sent together, with their values quoted by libpq. U+0000, which PostgreSQL does not store, is in none of
them: names are printable, and JSON escapes it.

A commit lets other writers go on before it is on disk, and then waits until it is: syncs of several processes overlap,
where each would wait for the one before. Others may therefore read what a crash would take back. The log of PostgreSQL
is written in order, so an entry that outlasts a crash has all before it; and who has read an entry that is not known to
do so waits for that before anybody is told of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg

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

LAYOUT = 1
CREATE = f"""
    CREATE TABLE entry (
        sequence BIGINT PRIMARY KEY,
        previous TEXT COLLATE "C" NOT NULL,
        hash TEXT COLLATE "C" NOT NULL,
        buyer TEXT COLLATE "C",
        idempotency_key TEXT COLLATE "C",
        price BIGINT,
        details TEXT COLLATE "C" NOT NULL,
        UNIQUE (buyer, idempotency_key)
    );
    CREATE TABLE head (one BIGINT PRIMARY KEY CHECK (one = 1), entries BIGINT NOT NULL, hash TEXT NOT NULL);
    CREATE TABLE total (buyer TEXT COLLATE "C" PRIMARY KEY, purchases BIGINT NOT NULL, spent BIGINT NOT NULL);
    {AccountTable.CREATE};
    INSERT INTO head VALUES (1, {EMPTY.entries}, '{EMPTY.hash}');
    CREATE TABLE layout (application TEXT NOT NULL, version BIGINT NOT NULL);
    INSERT INTO layout VALUES ('pacas', {LAYOUT})
"""

_COLUMNS = ", ".join(Record._fields)
_ENTRY = f"SELECT {_COLUMNS} FROM entry"
_OF = {name: ", ".join(f"{name}.{column}" for column in Record._fields) for name in ("last", "bought")}
PREPARE = f"""
    PREPARE pacas_look (text, text) AS
    SELECT head.entries, head.hash, total.purchases, total.spent, {_OF["last"]}, {_OF["bought"]}
    FROM head
    LEFT JOIN LATERAL (
        SELECT * FROM entry WHERE sequence >= head.entries - 1 ORDER BY sequence LIMIT 2
    ) last ON true
    LEFT JOIN entry bought ON bought.buyer = $1 AND bought.idempotency_key = $2
    LEFT JOIN total ON total.buyer = $1
    ORDER BY last.sequence;

    PREPARE pacas_sell (bigint, text, text, text, text, bigint, text, bigint, bigint) AS
    WITH added AS (INSERT INTO entry ({_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)),
    counted AS (
        INSERT INTO total VALUES ($4, $8, $9)
        ON CONFLICT (buyer) DO UPDATE SET purchases = excluded.purchases, spent = excluded.spent
    )
    UPDATE head SET entries = $1 + 1, hash = $3
"""
"""The two statements of a purchase, planned once for a connection."""


SYNC = "SELECT pg_logical_emit_message(true, 'pacas', '') WHERE NOT pg_is_in_recovery()"
"""A transaction of nothing but a note in PostgreSQL's log: its commit returns when all commits before it are durable.
What a replica shows is durable where it came from."""


@dataclass(slots=True)
class DurableEntries:
    """How many entries are known to outlast a crash; for all connections of a ledger."""

    count: int = 0


class _TransactionState(NamedTuple):
    """What a transaction has read: it stays true to its end."""

    head: Head
    last: list[Record]
    """The records from the last that the head counts on, two at most."""
    totals: dict[str, Total]


class PostgresTables:
    """The tables, over one connection. In a transaction, what can wait is sent with the next statement."""

    def __init__(self, connection: psycopg.Connection[Any], lock: int, durable: DurableEntries) -> None:
        self.connection = connection
        self._durable = durable
        self._seen, self._has_written = 0, False
        """Entries that there are at the least, by what was read here since it was last waited for."""
        self._cursor = psycopg.ClientCursor(connection)
        self._begin = f"BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock({lock}); "
        self._waiting = ""
        self._said: list[str | None] = []
        """What the server said of each statement that was last sent."""
        self._is_open = False
        self._known: _TransactionState | None = None
        self._looked_up: dict[tuple[str, str], Record | None] = {}
        """Per buyer and key: what was bought, as far as this transaction has asked."""

    # ---- transactions ----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a transaction with the next statement: who has read nothing relies on nothing."""
        self._waiting, self._known, self._is_open = self._begin, None, True
        self._looked_up.clear()

    def commit(self) -> None:
        """Write what waits, end the transaction, and wait until that and all that was read in it is durable."""
        if self._waiting != self._begin:
            ends = ["COMMIT", SYNC] if self._is_to_settle() else ["COMMIT"]
            self._send(self._waiting + "; ".join(ends))
            if self._said[-len(ends)] != "COMMIT":
                raise psycopg.errors.InFailedSqlTransaction
            self._settled()
        self._end()

    def settle(self) -> None:
        """Wait until all that was read here outlasts a crash."""
        if self._is_to_settle():
            self._send(SYNC)
            self._settled()

    def _is_to_settle(self) -> bool:
        return self._has_written or self._seen > self._durable.count

    def _settled(self) -> None:
        self._durable.count = max(self._durable.count, self._seen)
        self._seen, self._has_written = 0, False

    def roll_back(self) -> None:
        """Undo the transaction, if there is one."""
        was_begun = self._is_open and not self._waiting.startswith(self._begin)
        self._seen, self._has_written = 0, False
        self._end()
        if was_begun:
            self._send("ROLLBACK")

    def _end(self) -> None:
        self._waiting, self._known, self._is_open = "", None, False

    # ---- reading ---------------------------------------------------------------------------------------------------

    def record(self, sequence: int) -> Record | None:
        return _first(self._records(f"{_ENTRY} WHERE sequence = %s", sequence))

    def bought(self, buyer: str, idempotency_key: str) -> Record | None:
        if self._is_open:
            if (buyer, idempotency_key) not in self._looked_up:
                self.look_ahead([(buyer, idempotency_key)])
            return self._looked_up[buyer, idempotency_key]
        return _first(self._records(f"{_ENTRY} WHERE buyer = %s AND idempotency_key = %s", buyer, idempotency_key))

    def bought_by(self, buyer: str, after: int, limit: int, *, few: bool) -> list[Record]:
        return self._records(f"{_ENTRY} WHERE {OF_ONE_BUYER[few].replace('?', '%s')}", buyer, after, limit)

    def page(self, start: int, limit: int) -> list[Record]:
        if self._known is not None and start == self._known.head.entries - 1 and limit >= 2:
            return self._known.last
        return self._records(f"{_ENTRY} WHERE sequence >= %s ORDER BY sequence LIMIT %s", start, limit)

    def links(self, start: int, limit: int) -> list[Link]:
        links: list[Link] = self._rows(LINKS.replace("?", "%s"), start, limit)
        self._seen = max([self._seen, *(link[0] + 1 for link in links[-1:])])
        return links

    def head(self) -> Head | None:
        if self._known is not None:
            return self._known.head
        rows = self._rows("SELECT entries, hash FROM head")
        self._seen = max(self._seen, rows[0][0]) if rows else self._seen
        return Head._make(rows[0]) if rows else None

    def total(self, buyer: str) -> Total:
        if self._known is not None and buyer in self._known.totals:
            return self._known.totals[buyer]
        return self._totals("WHERE buyer = %s", buyer).get(buyer, Total())

    def totals(self) -> dict[str, Total]:
        return self._totals("")

    def _totals(self, which: str, *values: object) -> dict[str, Total]:
        rows = self._rows(f"SELECT buyer, purchases, spent, entries FROM total, head {which}", *values)
        self._seen = max([self._seen, *(row[3] for row in rows)])
        return {buyer: Total(purchases, spent) for buyer, purchases, spent, _ in rows}

    def damage(self) -> str | None:
        return None  # PostgreSQL checks its own pages, if it is told to

    def accounts(self) -> list[Account]:
        return self._accounts(EVERY_ACCOUNT)

    def not_entered(self) -> list[Account]:
        return self._accounts(NOT_ENTERED.replace("?", "%s"), *ENTERED)

    def _accounts(self, statement: str, *values: object) -> list[Account]:
        if self._rows("SELECT to_regclass(%s) IS NOT NULL", AccountTable.NAME) != [(True,)]:
            return []
        rows = self._rows(statement, *values)
        return accounts_of([column.name for column in self._cursor.description or ()], rows)

    # ---- writing ---------------------------------------------------------------------------------------------------

    def put_account(self, account: Account) -> None:
        self._has_written = True
        self._rows(PUT_ACCOUNT.replace("?", "%s"), *put_values(account))

    def write(self, record: Record, total: Total | None) -> None:
        if total is None:
            self._wait_with(f"INSERT INTO entry ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)", *record)
            self._wait_with("UPDATE head SET entries = %s, hash = %s", record.sequence + 1, record.hash)
        else:
            self._wait_with("EXECUTE pacas_sell (%s, %s, %s, %s, %s, %s, %s, %s, %s)", *record, *total)
        if self._known is not None:
            totals = self._known.totals
            if record.buyer is not None and total is not None:
                totals[record.buyer] = total
            if record.buyer is not None and record.idempotency_key is not None:
                self._looked_up[record.buyer, record.idempotency_key] = record
            self._known = _TransactionState(Head(record.sequence + 1, record.hash), [record], totals)
        self._seen, self._has_written = max(self._seen, record.sequence + 1), True

    def remove_opening(self) -> None:
        self._has_written = True
        self._wait_with("DELETE FROM entry WHERE sequence = 0")

    # ---- statements ------------------------------------------------------------------------------------------------

    def look_ahead(self, purchases: Iterable[tuple[str, str]]) -> None:
        """Read all that sales to these buyers need, and what was bought with these keys, in one round trip."""
        named = list(purchases)
        looks = [self._cursor.mogrify("EXECUTE pacas_look (%s, %s)", pair) for pair in named]
        if not looks:
            return
        text, self._waiting = self._waiting + "; ".join(looks), ""
        for (buyer, key), rows in zip(named, self._send(text)[-len(looks) :], strict=True):
            self._looked_up[buyer, key] = self._take_in(buyer, rows)

    def _take_in(self, buyer: str, rows: list[tuple[Any, ...]]) -> Record | None:
        if not rows:
            return None  # the head record is missing, and whoever asks for it will say so
        fields = len(Record._fields)
        last = [Record._make(row[4 : 4 + fields]) for row in rows if row[4] is not None]
        head, total, bought = Head._make(rows[0][:2]), rows[0][2:4], rows[0][4 + fields :]
        self._seen = max(self._seen, head.entries)
        totals = {} if self._known is None else self._known.totals
        totals[buyer] = Total() if total[0] is None else Total._make(total)
        self._known = _TransactionState(head, last, totals)
        return None if bought[0] is None else Record._make(bought)

    def _records(self, statement: str, *values: object) -> list[Record]:
        found = list(map(Record._make, self._rows(statement, *values)))
        self._seen = max([self._seen, *(record.sequence + 1 for record in found)])
        return found

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a statement, sent with what waits."""
        text, self._waiting = self._waiting + self._cursor.mogrify(statement, values), ""
        return self._send(text)[-1]

    def _send(self, text: str) -> list[list[tuple[Any, ...]]]:
        """Send statements together: the rows of each."""
        self._cursor.execute(text.encode())
        found, self._said = [self._fetched()], [self._cursor.statusmessage]
        while self._cursor.nextset():
            found.append(self._fetched())
            self._said.append(self._cursor.statusmessage)
        return found

    def _fetched(self) -> list[tuple[Any, ...]]:
        return [] if self._cursor.description is None else self._cursor.fetchall()

    def _wait_with(self, statement: str, *values: object) -> None:
        self._waiting += self._cursor.mogrify(statement, values) + "; "


def _first(records: list[Record]) -> Record | None:
    return records[0] if records else None
