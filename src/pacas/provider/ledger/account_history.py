"""What has become of each account, by the ledger's entries: whether the accounts that are kept follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pacas.core.money import rounded_text
from pacas.provider.ledger.account_change import AccountChange, AccountState
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.entry import AcceptedTerms, Entry, Opening, Purchase


class AccountStep(NamedTuple):
    """A change, in which entry, and what the account had spent by then, in nanocredits."""

    sequence: int
    change: AccountChange
    spent: int


@dataclass(frozen=True, slots=True)
class AccountHistory:
    """What the entries say of one account."""

    steps: tuple[AccountStep, ...] = ()
    """None: it is of an earlier release, which entered no accounts, and waits for the provider to be opened."""
    problem: str | None = None
    """Where the entries, or the accounts that are kept, do not follow from each other."""
    beyond: int = 0
    """Purchases that the account could not have made over the wire as it was then: beyond its credit, or revoked."""


def account_histories(entries: Sequence[Entry], kept: Sequence[Account]) -> dict[str, AccountHistory]:
    """The history of every account that entries or the database know, by name; none before the first sale."""
    found: dict[str, _Telling] = {}
    spent: dict[str, int] = {}
    for entry in entries:
        told = entry.payload
        if isinstance(told, Opening):
            continue
        if isinstance(told, AccountChange):
            found.setdefault(told.buyer, _Telling()).change(entry.sequence, told, spent.get(told.buyer, 0))
        elif isinstance(told, Purchase):
            spent[told.buyer] = spent.get(told.buyer, 0) + told.price
            if told.buyer in found:
                found[told.buyer].buy(told.price, spent[told.buyer])
        elif told.buyer in found:
            found[told.buyer].agree(told)
    if len(entries) < 2:
        return {}
    now = {account.name: AccountState.of(account) for account in kept}
    is_entered = bool(found)
    told_of = {name: found.get(name) or _Telling() for name in sorted({*found, *now})}
    return {name: one.history(now.get(name), is_entered) for name, one in told_of.items()}


class _Telling:
    """One account, entry by entry."""

    def __init__(self) -> None:
        self._steps: list[AccountStep] = []
        self._problem: str | None = None
        self._beyond = 0
        self._has_terms = False

    def change(self, sequence: int, change: AccountChange, spent: int) -> None:
        if self._steps and change.before != self._steps[-1].change.after and self._problem is None:
            self._problem = f"it was changed behind the ledger's back before entry {sequence}"
        self._steps.append(AccountStep(sequence, change, spent))

    def agree(self, terms: AcceptedTerms) -> None:
        """What is prepaid may be used up, whatever the credit is by then."""
        self._has_terms = True

    def buy(self, price: int, spent: int) -> None:
        state = self._steps[-1].change.after
        is_beyond = state.credit is not None and spent > state.credit and not self._has_terms
        self._beyond += bool(price) and (is_beyond or state.revoked)

    def history(self, now: AccountState | None, is_entered: bool) -> AccountHistory:
        problem = self._problem
        if problem is None and self._steps and now != self._steps[-1].change.after:
            gone = "is gone from the accounts" if now is None else "was changed behind the ledger's back"
            problem = f"it {gone} after entry {self._steps[-1].sequence}"
        if problem is None and is_entered and not self._steps:
            problem = "it was added behind the ledger's back: no entry says so"
        return AccountHistory(tuple(self._steps), problem, self._beyond)


def changed_words(change: AccountChange) -> str:
    """A change in a few words.

    >>> client = AccountState("client", 10 * 10**9, False, "one", None, None, None, None)
    >>> from dataclasses import replace
    >>> changed_words(AccountChange("ann", "key", client, replace(client, credit=None, token="two")))
    'credit 10 → no limit, a new token'
    """
    before, after = change.before, change.after
    if before is None or before == after:
        made = "added" if before is None else "entered"
        return f"{made}: {after.role.value}, credit {_limit(after.credit)}{', revoked' if after.revoked else ''}"
    return ", ".join(_differences(before, after)) or "another end of its token"


def _differences(before: AccountState, after: AccountState) -> Iterator[str]:
    if after.role is not before.role:
        yield f"role {before.role.value} → {after.role.value}"
    if after.credit != before.credit:
        yield f"credit {_limit(before.credit)} → {_limit(after.credit)}"
    if after.quotes_per_minute != before.quotes_per_minute:
        rates = ("all" if rate is None else f"{rate:,}" for rate in (before.quotes_per_minute, after.quotes_per_minute))
        yield f"tuples a minute {' → '.join(rates)}"
    if after.revoked != before.revoked:
        yield "revoked" if after.revoked else "no longer revoked"
    if after.certificate != before.certificate:
        yield "bound to no certificate" if after.certificate is None else "bound to a certificate"
    if after.token != before.token:
        yield "a new token"


def _limit(credit: int | None) -> str:
    return "no limit" if credit is None else rounded_text(credit)
