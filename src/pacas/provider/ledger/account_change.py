"""Changes of accounts, as the ledger's entries say them: so nobody's credit is raised and lowered again unseen.

With the first sale every account is entered as it is then, and each later change in the same transaction as itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from pacas.protocol.names import check_buyer, check_key
from pacas.provider.ledger.accounts import Account, Role, check_credit

KEYS = "account/"
"""How the keys of these entries begin. They end in what nobody can guess, and so take for themselves."""


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account but for its name; its tokens by a digest that tells them apart, and opens nothing."""

    role: Role
    credit: int | None
    revoked: bool
    token: str = field(repr=False)
    quotes_per_minute: int | None
    expires: int | None
    previous: str | None = field(repr=False)
    previous_expires: int | None
    certificate: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", Role(self.role))
        check_credit(self.credit)

    @classmethod
    def of(cls, account: Account) -> AccountState:
        return cls(
            account.role,
            account.credit,
            account.revoked,
            _told_apart(account.token_hash),
            account.quotes_per_minute,
            account.expires,
            None if account.previous_hash is None else _told_apart(account.previous_hash),
            account.previous_expires,
            account.certificate,
        )

    def members(self) -> dict[str, Any]:
        """What an entry says of it, sorted; of a certificate only where it is bound to one."""
        told = asdict(self)
        if self.certificate is None:
            del told["certificate"]
        return dict(sorted(told.items()))


@dataclass(frozen=True, slots=True)
class AccountChange:
    """An account was changed; or it is the same before and after, and entered for the first time."""

    buyer: str
    """Its name."""
    key: str
    before: AccountState | None
    """None: there was no such account."""
    after: AccountState
    time: int | None = field(default=None, compare=False)
    """When it was written, in seconds since 1970; None where nobody tells the time."""

    def __post_init__(self) -> None:
        check_buyer(self.buyer)
        check_key(self.key)

    @classmethod
    def of(cls, before: Account | None, after: Account, time: int | None) -> AccountChange:
        """The change from one to the other, under a new key."""
        was = None if before is None else AccountState.of(before)
        return cls(after.name, KEYS + secrets.token_hex(16), was, AccountState.of(after), time)

    @classmethod
    def read(cls, buyer: str, key: str, details: Mapping[str, Any], time: int | None) -> AccountChange:
        """The change that an entry's details say."""
        before = details["before"]
        return cls(
            buyer, key, None if before is None else AccountState(**before), AccountState(**details["account"]), time
        )


def _told_apart(token_hash: str) -> str:
    return sha256(f"pacas account token\n{token_hash}".encode()).hexdigest()
