"""Small tables beside a ledger's own, in its database: accounts, offers, refusals, a checkpoint, and who serves it.

They are the same for every database.

A table is made when something is first written to it; one of an earlier release gets the columns that came later when
it is opened.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from typing import Any, ClassVar

from pacas.core.rates.schedule import Schedule
from pacas.errors import HouseError, StorageError
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.provider.ledger.account_change import KEYS
from pacas.provider.ledger.accounts import Account, Accounts, Change, Role
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.offers import OfferState, PrivateOffer
from pacas.provider.ledger.refusals import RefusalCount

Rows = list[tuple[Any, ...]]
MANY = 100
"""Rows that are written at once."""
MOST_LINES = 1000
"""Of one key: far more than attributes have levels."""


class SideDatabase(ABC):
    """A ledger's database, as one of the tables beside the ledger reads and writes it; `str` of it tells no secret."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def read(self, statement: str, *values: object) -> Rows:
        """The rows of a statement; none if there is no table yet."""

    @abstractmethod
    def make_table(self) -> None:
        """Make the table, and the columns that one of an earlier release lacks."""

    @abstractmethod
    def write(self, statement: str, *values: object) -> Rows:
        """What a statement has changed, durably; before or after a sale, never in the midst of one."""

    @abstractmethod
    def open_ledger(self) -> Ledger:
        """The ledger that the table is beside, by connections of its own."""


class SideTable:
    """A table in a ledger's database."""

    NAME: ClassVar[str]
    CREATE: ClassVar[str]
    """The statement that makes it, if it is not there."""
    LATER: ClassVar[Mapping[str, str]] = {}
    """The columns that tables of earlier releases lack, and what is kept in them."""
    IS_APART: ClassVar[bool] = False
    """Whether no ledger is in its database, so that nobody waits for the writer of one."""

    def __init__(self, database: SideDatabase) -> None:
        self._database = database

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._database)!r})"

    def close(self) -> None:
        self._database.close()

    @classmethod
    def additions(cls, columns: Sequence[str]) -> list[str]:
        """The statements that a table with these columns needs."""
        lacking = (column for column in cls.LATER if column not in columns)
        return [f"ALTER TABLE {cls.NAME} ADD COLUMN {column} {cls.LATER[column]}" for column in lacking]


_COLUMNS = tuple(one.name for one in fields(Account))
_ACCOUNT = f"SELECT {', '.join(_COLUMNS)} FROM account"
EVERY_ACCOUNT = "SELECT * FROM account"
NOT_ENTERED = """SELECT * FROM account WHERE NOT EXISTS (
    SELECT 1 FROM entry WHERE buyer = name AND idempotency_key >= ? AND idempotency_key < ? AND details LIKE ?)"""
"""The accounts that no entry says anything of. By a range of keys: a buyer may have many entries."""
ENTERED = (KEYS, KEYS[:-1] + chr(ord(KEYS[-1]) + 1), '{"account":%')
PUT_ACCOUNT = f"""INSERT INTO account ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
    ON CONFLICT (name) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _COLUMNS[1:])}"""


def put_values(account: Account) -> tuple[Any, ...]:
    """The values of `PUT_ACCOUNT`."""
    given = (getattr(account, column) for column in _COLUMNS)
    return tuple(int(one) if isinstance(one, bool) else str(one) if isinstance(one, Role) else one for one in given)


def accounts_of(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> list[Account]:
    """The accounts that rows with these columns keep, by name in order; an earlier release had fewer of them."""
    kept = (dict(zip(columns, row, strict=True)) for row in rows)
    found = [Account(**{**one, "role": Role(one["role"]), "revoked": bool(one["revoked"])}) for one in kept]
    return sorted(found, key=lambda account: account.name)


class AccountTable(SideTable, Accounts):
    """Accounts in a database."""

    NAME = "account"
    CREATE = """CREATE TABLE IF NOT EXISTS account (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        credit BIGINT,
        revoked BIGINT NOT NULL,
        token_hash TEXT NOT NULL UNIQUE,
        quotes_per_minute BIGINT,
        expires BIGINT,
        previous_hash TEXT,
        previous_expires BIGINT,
        certificate TEXT
    )"""
    LATER: ClassVar[Mapping[str, str]] = {
        "quotes_per_minute": "BIGINT",
        "expires": "BIGINT",
        "previous_hash": "TEXT",
        "previous_expires": "BIGINT",
        "certificate": "TEXT",
    }

    def list(self) -> list[Account]:
        return accounts_of(_COLUMNS, self._database.read(_ACCOUNT))

    def by_token(self, token_hash: str) -> Account | None:
        account = self._one("token_hash", token_hash) or self._one("previous_hash", token_hash)
        return None if account is None else account.opened_by(token_hash)

    def change(self, name: str, change: Change) -> None:
        self._database.make_table()
        with closing(self._database.open_ledger()) as ledger:
            ledger.change_account(name, change)

    def _one(self, column: str, value: str) -> Account | None:
        return next(iter(accounts_of(_COLUMNS, self._database.read(f"{_ACCOUNT} WHERE {column} = ?", value))), None)


class OfferTable(SideTable):
    """Private offers in a database."""

    NAME = "offer"
    CREATE = """CREATE TABLE IF NOT EXISTS offer (
        id TEXT PRIMARY KEY,
        buyer TEXT NOT NULL,
        schedule TEXT NOT NULL,
        prepaid BIGINT NOT NULL,
        days BIGINT NOT NULL,
        state TEXT NOT NULL,
        stands_until BIGINT NOT NULL,
        number BIGINT NOT NULL
    )"""

    def add(self, offer: PrivateOffer) -> None:
        given = (offer.id, offer.buyer, str(offer.schedule), offer.prepaid, offer.days, offer.state.value)
        self._database.write(
            "INSERT INTO offer (id, buyer, schedule, prepaid, days, state, stands_until, number) "
            "SELECT ?, ?, ?, ?, ?, ?, ?, coalesce(max(number), 0) + 1 FROM offer RETURNING id",
            *given,
            offer.stands_until,
        )

    def list(self, buyer: str | None = None) -> list[PrivateOffer]:
        of_buyer, values = ("", ()) if buyer is None else ("WHERE buyer = ? ", (buyer,))
        asked = f"SELECT id, buyer, schedule, prepaid, days, state, stands_until FROM offer {of_buyer}ORDER BY number"
        return list(map(_offer, self._database.read(asked, *values)))

    def change(self, id: str, before: OfferState, after: OfferState) -> bool:
        statement = "UPDATE offer SET state = ? WHERE id = ? AND state = ? RETURNING id"
        return bool(self._database.write(statement, after.value, id, before.value))


def _offer(row: tuple[Any, ...]) -> PrivateOffer:
    id, buyer, schedule, prepaid, days, state, stands_until = row
    return PrivateOffer(id, buyer, Schedule.parse(schedule), prepaid, days, OfferState(state), stands_until)


class CircleTable(SideTable):
    """The lines of a clearing house: a row for each key, whose version says how often a line was added."""

    NAME = "circle"
    IS_APART = True
    CREATE = """CREATE TABLE IF NOT EXISTS circle (
        key TEXT PRIMARY KEY,
        version BIGINT NOT NULL,
        lines TEXT NOT NULL
    )"""

    def read(self, key: str) -> CircleLines:
        with _house_faults():
            rows = self._database.read("SELECT version, lines FROM circle WHERE key = ?", key)
        if not rows:
            return CircleLines()
        return CircleLines(rows[0][0], tuple(CircleLine(*line) for line in json.loads(rows[0][1])))

    def reserve(self, key: str, if_version: int, line: CircleLine) -> bool:
        found = self.read(key)
        if found.version != if_version:
            return False
        if line in found.lines:
            return True
        if len(found.lines) >= MOST_LINES:
            raise HouseError("the house has too many lines of one key; the circle's members sell at too many levels")
        lines = json.dumps([*found.lines, line], separators=(",", ":"))
        with _house_faults():
            if if_version == 0:
                statement = "INSERT INTO circle VALUES (?, 1, ?) ON CONFLICT (key) DO NOTHING RETURNING key"
                return bool(self._database.write(statement, key, lines))
            statement = "UPDATE circle SET version = ?, lines = ? WHERE key = ? AND version = ? RETURNING key"
            return bool(self._database.write(statement, if_version + 1, lines, key, if_version))


@contextmanager
def _house_faults() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise HouseError(f"the clearing house cannot be asked, so nothing is sold: {error}") from None


class RefusalTable(SideTable):
    """How often whom was refused what, by the hour."""

    NAME = "refusal"
    CREATE = """CREATE TABLE IF NOT EXISTS refusal (
        hour BIGINT NOT NULL,
        account TEXT NOT NULL,
        reason TEXT NOT NULL,
        refused BIGINT NOT NULL,
        PRIMARY KEY (hour, account, reason)
    )"""

    def add(self, counts: Sequence[RefusalCount]) -> None:
        for start in range(0, len(counts), MANY):
            some = counts[start : start + MANY]
            rows = ", ".join(["(?, ?, ?, ?)"] * len(some))
            self._database.write(
                f"INSERT INTO refusal (hour, account, reason, refused) VALUES {rows} "
                "ON CONFLICT (hour, account, reason) DO UPDATE SET refused = refusal.refused + excluded.refused "
                "RETURNING hour",
                *(value for count in some for value in count),
            )

    def since(self, hour: int) -> list[RefusalCount]:
        rows = self._database.read("SELECT hour, account, reason, refused FROM refusal WHERE hour >= ?", hour)
        return sorted(map(RefusalCount._make, rows))


class CheckpointTable(SideTable):
    """The last checkpoint of the ledger."""

    NAME = "checkpoint"
    CREATE = """CREATE TABLE IF NOT EXISTS checkpoint (
        one BIGINT PRIMARY KEY CHECK (one = 1),
        said TEXT NOT NULL,
        signature TEXT NOT NULL
    )"""

    def last(self) -> tuple[str, str] | None:
        rows = self._database.read("SELECT said, signature FROM checkpoint")
        return (str(rows[0][0]), str(rows[0][1])) if rows else None

    def keep(self, text: str, signature: str) -> None:
        self._database.write(
            "INSERT INTO checkpoint VALUES (1, ?, ?) "
            "ON CONFLICT (one) DO UPDATE SET said = excluded.said, signature = excluded.signature RETURNING one",
            *(text, signature),
        )


class ServingTable(SideTable):
    """The processes that serve a ledger: on which terms, and when each was last seen, in seconds since 1970."""

    NAME = "serving"
    CREATE = """CREATE TABLE IF NOT EXISTS serving (
        process TEXT PRIMARY KEY,
        terms TEXT NOT NULL,
        seen BIGINT NOT NULL
    )"""

    def note(self, process: str, terms: str, seen: int) -> None:
        self._database.write(
            "INSERT INTO serving (process, terms, seen) VALUES (?, ?, ?) "
            "ON CONFLICT (process) DO UPDATE SET terms = excluded.terms, seen = excluded.seen RETURNING process",
            process,
            terms,
            seen,
        )

    def others(self, process: str, since: int) -> list[tuple[str, str]]:
        rows = self._database.read(
            "SELECT process, terms FROM serving WHERE process <> ? AND seen >= ?", process, since
        )
        return [(name, terms) for name, terms in rows]

    def forget(self, process: str) -> None:
        self._database.write("DELETE FROM serving WHERE process = ? RETURNING process", process)
