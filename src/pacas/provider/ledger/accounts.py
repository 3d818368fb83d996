"""Accounts: who may ask over the wire, in which role, and how much each may spend.

An account's name is the buyer's name in the ledger. Its token is 256 random bits, shown once when it is made; only the
token's SHA-256 is kept, which is enough to know it again, and not enough to find it out. It may expire.
"""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from threading import Lock

from pacas.errors import InputError, did_you_mean
from pacas.protocol.messages import LARGEST
from pacas.protocol.names import check_buyer

TOKEN_BYTES = 32
HIGHEST_RATE = 10**12
"""Tuples a minute: more than anybody could answer."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Role(StrEnum):
    """What an account is for."""

    CLIENT = "client"
    """Asks for quotes, buys, and sees its own purchases."""
    OPERATOR = "operator"
    """Sees all accounts and the metrics; it may not buy."""
    MEMBER = "member"
    """A provider that keeps lines in the clearing house of this service; it may do nothing else."""
    RECONCILE = "reconcile"
    """Asks and buys by the reconciliation API alone. Its token stands in addresses, which get around: so its credit has
    an end."""


@dataclass(frozen=True, slots=True)
class Account:
    """A name that may ask; `credit` is what it may spend in all, in nanocredits, or None for as much as it likes."""

    name: str
    role: Role
    credit: int | None
    revoked: bool
    token_hash: str = field(repr=False)
    quotes_per_minute: int | None = None
    """Tuples that it may ask about in a minute; None for as many as the service allows everybody."""
    expires: int | None = None
    """When its token counts no longer, in seconds since 1970; None for one that does not expire."""
    previous_hash: str | None = field(default=None, repr=False)
    """Of the token before, which counts until `previous_expires`."""
    previous_expires: int | None = None
    certificate: str | None = None
    """The SHA-256 of the one client certificate that its tokens count with, in hex; None: they count without any."""

    def accepts(self, certificate: str | None) -> bool:
        """Whether its tokens count over a connection with this client certificate, or with none."""
        return self.certificate in (None, certificate)

    def opened_by(self, token_hash: str) -> Account | None:
        """The account with the token of this hash as its own, and its end: the present one, or the one before."""
        if token_hash == self.token_hash:
            return self
        if token_hash != self.previous_hash:
            return None
        return replace(self, token_hash=token_hash, expires=self.previous_expires)

    def with_token(self, token_hash: str, expires: int | None, until: int) -> Account:
        """The account with a new token; the present one counts until then, or its own end if that is sooner."""
        if self.revoked:
            raise InputError(f"the account {self.name!r} is revoked; pacas account add gives it a new token")
        previous = until if self.expires is None else min(until, self.expires)
        return replace(
            self, token_hash=token_hash, expires=expires, previous_hash=self.token_hash, previous_expires=previous
        )

    def has_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now

    def __post_init__(self) -> None:
        check_buyer(self.name)
        check_credit(self.credit)
        check_rate(self.quotes_per_minute)
        if self.role is Role.RECONCILE and self.credit is None:
            raise InputError(f"an account of the role {self.role.value} needs a credit: its token stands in addresses")
        if not _DIGEST.fullmatch(self.token_hash):
            raise InputError("a token's hash must be a SHA-256 in lower-case hex")
        if self.certificate is not None and not _DIGEST.fullmatch(self.certificate):
            raise InputError("a certificate is known by its SHA-256 in lower-case hex")


Change = Callable[[Account | None], Account]
"""From the account of a name, or None if there is none, to what it becomes."""


class Accounts(ABC):
    """Where accounts are kept: in the ledger's own database. It may be used from several threads."""

    @abstractmethod
    def list(self) -> list[Account]:
        """All accounts, by name in order."""

    @abstractmethod
    def by_token(self, token_hash: str) -> Account | None:
        """The account that the token of this hash opens, or opened: revoked or not, expired or not."""

    @abstractmethod
    def change(self, name: str, change: Change) -> None:
        """Let an account become another, durably; once something was sold, with an entry of the ledger that says so."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the store."""

    def add(self, account: Account) -> None:
        """Add an account; one of that name which was revoked is replaced, and its purchases stay its own."""

        def added(before: Account | None) -> Account:
            if before is not None and not before.revoked:
                raise name_taken(account.name)
            return account

        self.change(account.name, added)

    def revoke(self, name: str) -> None:
        """Let a token count no longer."""
        self._change_present(name, lambda account: replace(account, revoked=True))

    def set_token(self, name: str, token_hash: str, expires: int | None, until: int) -> None:
        """Give an account a new token; the present one counts until then, and the one before it no longer."""
        self._change_present(name, lambda account: account.with_token(token_hash, expires, until))

    def set_credit(self, name: str, credit: int | None) -> None:
        """Set what an account may spend in all."""
        self._change_present(name, lambda account: replace(account, credit=credit))

    def set_rate(self, name: str, quotes_per_minute: int | None) -> None:
        """Set how many tuples an account may ask about in a minute."""
        self._change_present(name, lambda account: replace(account, quotes_per_minute=quotes_per_minute))

    def set_certificate(self, name: str, certificate: str | None) -> None:
        """Let an account's tokens count with one client certificate only, or without any."""
        self._change_present(name, lambda account: replace(account, certificate=certificate))

    def _change_present(self, name: str, change: Callable[[Account], Account]) -> None:
        def changed(before: Account | None) -> Account:
            if before is None:
                raise no_such_account(name, (account.name for account in self.list()))
            return change(before)

        self.change(name, changed)


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hex: what is kept of it.

    >>> token_hash("abc")[:8]
    'ba7816bf'
    """
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def check_credit(credit: int | None) -> None:
    """An amount that every store keeps exactly, or None."""
    if credit is not None and (type(credit) is not int or not 0 <= credit <= LARGEST):
        raise InputError(f"a credit must be a whole number of nanocredits from 0 to {LARGEST}")


def check_rate(quotes_per_minute: int | None) -> None:
    """A number of tuples that a limit can be, or None."""
    if quotes_per_minute is not None and (
        type(quotes_per_minute) is not int or not 1 <= quotes_per_minute <= HIGHEST_RATE
    ):
        raise InputError(f"a rate must be a whole number of tuples a minute, from 1 to {HIGHEST_RATE}")


def name_taken(name: str) -> InputError:
    """The error for an account that is there already."""
    return InputError(f"there is an account {name!r} already; choose another name, or revoke it first for a new token")


def no_such_account(name: str, known: Iterable[str]) -> InputError:
    """The error for an account that is not there."""
    return InputError(f"there is no account {name!r}; {did_you_mean(name, known)}")


class MemoryAccounts(Accounts):
    """Accounts that last as long as their process, with no ledger that would have entries of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_name: dict[str, Account] = {}

    def list(self) -> list[Account]:
        return [account for _, account in sorted(self._by_name.copy().items())]

    def by_token(self, token_hash: str) -> Account | None:
        opened = (account.opened_by(token_hash) for account in self.list())
        return next((account for account in opened if account is not None), None)

    def change(self, name: str, change: Change) -> None:
        with self._lock:
            self._by_name[name] = change(self._by_name.get(name))

    def close(self) -> None:
        pass
