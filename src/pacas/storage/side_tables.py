"""Small tables beside a ledger's own, in its database: accounts, private offers, what was refused, and who serves it.

They are the same for every database.

A table is made when something is first written to it; one of an earlier release gets the columns that came later when
it is opened.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from pacas.core.schedule import Schedule
from pacas.errors import HouseError, InputError, StorageError
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.provider.ledger.accounts import Account, Role, name_taken, no_such_account
from pacas.provider.ledger.offers import OfferState, PrivateOffer
from pacas.provider.ledger.refusals import RefusalCount

Rows = list[tuple[Any, ...]]
MANY = 100
"""Rows that are written at once."""
MOST_LINES = 1000
"""Of one key: far more than attributes have levels."""


class SideTable(ABC):
    """A table in a ledger's database."""

    NAME: ClassVar[str]
    CREATE: ClassVar[str]
    """The statement that makes it, if it is not there."""
    LATER: ClassVar[Mapping[str, str]] = {}
    """The columns that tables of earlier releases lack, and what is kept in them."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def _read(self, statement: str, *values: object) -> Rows:
        """The rows of a statement; none if there is no table yet."""

    @abstractmethod
    def _write(self, statement: str, *values: object) -> Rows:
        """What a statement has changed, durably; before or after a sale, never in the midst of one."""

    def additions(self, columns: Sequence[str]) -> Iterator[str]:
        """The statements that a table with these columns needs."""
        for column, kind in self.LATER.items():
            if column not in columns:
                yield f"ALTER TABLE {self.NAME} ADD COLUMN {column} {kind}"


_COLUMNS = "name, role, credit, revoked, token_hash, quotes_per_minute, expires, previous_hash, previous_expires"
_ACCOUNT = f"SELECT {_COLUMNS} FROM account"
_ADD = f"""INSERT INTO account ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET role = excluded.role, credit = excluded.credit, revoked = excluded.revoked,
    token_hash = excluded.token_hash, quotes_per_minute = excluded.quotes_per_minute, expires = excluded.expires,
    previous_hash = excluded.previous_hash, previous_expires = excluded.previous_expires
    WHERE account.revoked = 1 RETURNING name"""


class AccountTable(SideTable):
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
        previous_expires BIGINT
    )"""
    LATER: ClassVar[Mapping[str, str]] = {
        "quotes_per_minute": "BIGINT",
        "expires": "BIGINT",
        "previous_hash": "TEXT",
        "previous_expires": "BIGINT",
    }

    def add(self, account: Account) -> None:
        given = (account.name, account.role.value, account.credit, int(account.revoked), account.token_hash)
        ends = (account.quotes_per_minute, account.expires, account.previous_hash, account.previous_expires)
        if not self._write(_ADD, *given, *ends):
            raise name_taken(account.name)

    def list(self) -> list[Account]:
        return sorted((_account(row) for row in self._read(_ACCOUNT)), key=lambda account: account.name)

    def by_token(self, token_hash: str) -> Account | None:
        account = self._one("token_hash", token_hash) or self._one("previous_hash", token_hash)
        return None if account is None else account.opened_by(token_hash)

    def revoke(self, name: str) -> None:
        self._change("UPDATE account SET revoked = 1 WHERE name = ? RETURNING name", name, name=name)

    def set_token(self, name: str, token_hash: str, expires: int | None, until: int) -> None:
        account = self._one("name", name)
        if account is None:
            raise no_such_account(name, (one.name for one in self.list()))
        after = account.with_token(token_hash, expires, until)
        changed = self._write(
            "UPDATE account SET token_hash = ?, expires = ?, previous_hash = ?, previous_expires = ? "
            "WHERE name = ? AND token_hash = ? AND revoked = 0 RETURNING name",
            *(after.token_hash, after.expires, after.previous_hash, after.previous_expires, name, account.token_hash),
        )
        if not changed:
            raise InputError(f"the account {name!r} was changed by somebody else in this moment; try again")

    def set_credit(self, name: str, credit: int | None) -> None:
        if (account := self._one("name", name)) is not None:
            replace(account, credit=credit)  # raises, if it may not have that
        self._change("UPDATE account SET credit = ? WHERE name = ? RETURNING name", credit, name, name=name)

    def set_rate(self, name: str, quotes_per_minute: int | None) -> None:
        statement = "UPDATE account SET quotes_per_minute = ? WHERE name = ? RETURNING name"
        self._change(statement, quotes_per_minute, name, name=name)

    def _one(self, column: str, value: str) -> Account | None:
        rows = self._read(f"{_ACCOUNT} WHERE {column} = ?", value)
        return _account(rows[0]) if rows else None

    def _change(self, statement: str, *values: object, name: str) -> None:
        if not self._write(statement, *values):
            raise no_such_account(name, (account.name for account in self.list()))


def _account(row: tuple[Any, ...]) -> Account:
    name, role, credit, revoked, *rest = row
    return Account(name, Role(role), credit, bool(revoked), *rest)


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
        self._write(
            "INSERT INTO offer (id, buyer, schedule, prepaid, days, state, stands_until, number) "
            "SELECT ?, ?, ?, ?, ?, ?, ?, coalesce(max(number), 0) + 1 FROM offer RETURNING id",
            *given,
            offer.stands_until,
        )

    def list(self, buyer: str | None = None) -> list[PrivateOffer]:
        rows = self._read("SELECT id, buyer, schedule, prepaid, days, state, stands_until FROM offer ORDER BY number")
        return [offer for offer in map(_offer, rows) if buyer in (None, offer.buyer)]

    def change(self, id: str, before: OfferState, after: OfferState) -> bool:
        statement = "UPDATE offer SET state = ? WHERE id = ? AND state = ? RETURNING id"
        return bool(self._write(statement, after.value, id, before.value))


def _offer(row: tuple[Any, ...]) -> PrivateOffer:
    id, buyer, schedule, prepaid, days, state, stands_until = row
    return PrivateOffer(id, buyer, Schedule.parse(schedule), prepaid, days, OfferState(state), stands_until)


class CircleTable(SideTable):
    """The lines of a clearing house: a row for each key, whose version says how often a line was added."""

    NAME = "circle"
    CREATE = """CREATE TABLE IF NOT EXISTS circle (
        key TEXT PRIMARY KEY,
        version BIGINT NOT NULL,
        lines TEXT NOT NULL
    )"""

    def read(self, key: str) -> CircleLines:
        with _house_faults():
            rows = self._read("SELECT version, lines FROM circle WHERE key = ?", key)
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
                return bool(self._write(statement, key, lines))
            statement = "UPDATE circle SET version = ?, lines = ? WHERE key = ? AND version = ? RETURNING key"
            return bool(self._write(statement, if_version + 1, lines, key, if_version))


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
            self._write(
                f"INSERT INTO refusal (hour, account, reason, refused) VALUES {rows} "
                "ON CONFLICT (hour, account, reason) DO UPDATE SET refused = refusal.refused + excluded.refused "
                "RETURNING hour",
                *(value for count in some for value in count),
            )

    def since(self, hour: int) -> list[RefusalCount]:
        rows = self._read("SELECT hour, account, reason, refused FROM refusal WHERE hour >= ?", hour)
        return sorted(map(RefusalCount._make, rows))


class ServingTable(SideTable):
    """The processes that serve a ledger: on which terms, and when each was last seen, in seconds since 1970."""

    NAME = "serving"
    CREATE = """CREATE TABLE IF NOT EXISTS serving (
        process TEXT PRIMARY KEY,
        terms TEXT NOT NULL,
        seen BIGINT NOT NULL
    )"""

    def note(self, process: str, terms: str, seen: int) -> None:
        self._write(
            "INSERT INTO serving (process, terms, seen) VALUES (?, ?, ?) "
            "ON CONFLICT (process) DO UPDATE SET terms = excluded.terms, seen = excluded.seen RETURNING process",
            process,
            terms,
            seen,
        )

    def others(self, process: str, since: int) -> list[tuple[str, str]]:
        rows = self._read("SELECT process, terms FROM serving WHERE process <> ? AND seen >= ?", process, since)
        return [(name, terms) for name, terms in rows]

    def forget(self, process: str) -> None:
        self._write("DELETE FROM serving WHERE process = ? RETURNING process", process)
