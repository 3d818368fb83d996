"""The table of accounts, beside a ledger's own tables, and the statements that SQLite and PostgreSQL both take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pacas.provider.ledger.accounts import Account, Role, name_taken, no_such_account

CREATE_ACCOUNT = """CREATE TABLE IF NOT EXISTS account (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        credit BIGINT,
        revoked BIGINT NOT NULL,
        token_hash TEXT NOT NULL UNIQUE
    )"""

Rows = list[tuple[Any, ...]]

_ACCOUNT = "SELECT name, role, credit, revoked, token_hash FROM account"
_ADD = """INSERT INTO account VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET role = excluded.role, credit = excluded.credit, revoked = excluded.revoked,
    token_hash = excluded.token_hash WHERE account.revoked = 1 RETURNING name"""


class AccountTable(ABC):
    """Accounts in a database."""

    def add(self, account: Account) -> None:
        given = (account.name, account.role.value, account.credit, int(account.revoked), account.token_hash)
        if not self._write(_ADD, *given):
            raise name_taken(account.name)

    def list(self) -> list[Account]:
        return sorted((_account(row) for row in self._read(_ACCOUNT)), key=lambda account: account.name)

    def by_token(self, token_hash: str) -> Account | None:
        return _one(self._read(f"{_ACCOUNT} WHERE token_hash = ?", token_hash))

    def revoke(self, name: str) -> None:
        self._change("UPDATE account SET revoked = 1 WHERE name = ? RETURNING name", name, name=name)

    def set_credit(self, name: str, credit: int | None) -> None:
        self._change("UPDATE account SET credit = ? WHERE name = ? RETURNING name", credit, name, name=name)

    def _change(self, statement: str, *values: object, name: str) -> None:
        if not self._write(statement, *values):
            raise no_such_account(name, (account.name for account in self.list()))

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def _read(self, statement: str, *values: object) -> Rows:
        """The rows of a statement."""

    @abstractmethod
    def _write(self, statement: str, *values: object) -> Rows:
        """What a statement has changed, durably; before or after a sale, never in the midst of one."""


def _account(row: tuple[Any, ...]) -> Account:
    name, role, credit, revoked, token_hash = row
    return Account(name, Role(role), credit, bool(revoked), token_hash)


def _one(rows: Rows) -> Account | None:
    return _account(rows[0]) if rows else None
