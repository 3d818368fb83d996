"""The ledger: who bought what, in the order of the sales. Entries are added, and never changed or removed.

But for the opening: until the first sale nobody has learned anything by it, and a provider with other terms may begin
anew. Whoever had opened the ledger before that, in another process, can sell nothing from it any more.

A provider recomputes from it what every buyer has learned (D8), so an answer is given only after its purchase is in
the ledger to stay.

A provider opens its ledger before it sells. The seed of a ledger that is there already is the one to use:

    with ledger.transaction():
        stored = ledger.opening()
        seed = stored.seed if stored else secrets.token_bytes(32)
        ...  # the support set and the weights follow from the seed, and the fingerprint from all of them
        ledger.open(fingerprint, seed)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import count
from typing import Protocol

from pacas.core.rates.tab import Tab
from pacas.errors import KeyReusedError, LedgerBrokenError, LedgerChangedError, StorageError
from pacas.protocol.messages import Request
from pacas.protocol.names import check_buyer, check_key, is_name
from pacas.provider.ledger.account_change import AccountChange
from pacas.provider.ledger.accounts import Account, Change
from pacas.provider.ledger.chain import (
    EMPTY,
    PAGE,
    Head,
    Link,
    Records,
    Total,
    Verification,
    Visit,
    check_holds,
    check_link,
    checked_entry,
    head_record,
    known_entry,
    last_head,
    verify_chain,
)
from pacas.provider.ledger.entry import (
    AcceptedTerms,
    Entry,
    Opening,
    Purchase,
    Record,
    account_record,
    opening_record,
    purchase_record,
    put_on_tab,
    terms_record,
)

PART = 100
"""Records of a page that are read at once: who sells waits meanwhile, and not while they are checked."""


class Store(Records, Protocol):
    """Where records are: what a ledger asks of memory, or of a database."""

    def record(self, sequence: int) -> Record | None:
        """The record with this sequence number."""

    def links(self, start: int, limit: int) -> list[Link]:
        """The links of the first `limit` records from sequence number `start` on, in order."""

    def bought(self, buyer: str, idempotency_key: str) -> Record | None:
        """The record of a buyer's purchase with this key."""

    def bought_by(self, buyer: str, after: int, limit: int, *, few: bool) -> list[Record]:
        """The first `limit` of a buyer's records after sequence number `after`, in order.

        Look through the buyer's own records if they are few among all, else through all of them from there on.
        """

    def look_ahead(self, purchases: Iterable[tuple[str, str]]) -> None:
        """These buyers and keys are asked for next; only inside a transaction."""

    def total(self, buyer: str) -> Total:
        """What the buyer has bought so far."""

    def not_entered(self) -> list[Account]:
        """The accounts that no entry says anything of."""

    def put_account(self, account: Account) -> None:
        """Keep an account in the place of the one of its name; only inside a transaction."""

    def write(self, record: Record, total: Total | None) -> None:
        """Add a record, move the head record to it, and set its buyer's total, if given; only inside a transaction."""

    def remove_opening(self) -> None:
        """Take entry 0 away, which is the only one; only inside a transaction that writes another."""


class Ledger(ABC):
    """An append-only chain of entries: an opening, and then purchases, accepted terms and changes of accounts.

    The second entry is always of a sale: so long as there is but an opening, nothing was sold.

    It may be used from several threads, and appended to by several processes at a time, if its store can be shared.
    """

    is_read_only = False
    _seed: bytes | None = None
    _clock: Callable[[], int] | None = None
    """What tells entries when they are written, in seconds since 1970."""
    _opened: Opening | None = None
    """What this process has opened it with."""
    while_waiting: Callable[[], None] = staticmethod(lambda: None)
    """What a thread does meanwhile that waits for another process's transaction to end."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Hold off every other writer, of this process and of others: what is read inside stays true until the end.

        What was appended inside is durable at its end, all of it, or not there at all if it ends in an exception.
        A transaction inside another one joins it. It belongs to its thread; do not await inside.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the store. A closed ledger can't be used again."""

    @abstractmethod
    def _store(self) -> AbstractContextManager[Store]:
        """The store, for this thread alone, with what the transaction around it has appended."""

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[Records]:
        """The store as it is at one moment, without holding off writers."""

    def opening(self) -> Opening | None:
        """What the ledger was opened with, or None if it is new."""
        with self._store() as store:
            return _opening(store)

    def open(self, fingerprint: Mapping[str, str], seed: bytes) -> Opening:
        """Write the opening of a new ledger, or compare it with the one that is there.

        A LedgerChangedError names the parts that differ.
        """
        now = Opening(fingerprint, seed, self.now())
        with self.transaction(), self._store() as store:
            head = last_head(store)
            stored = _opening(store)
            if stored is not None:
                if changed := stored.changed(now):
                    raise LedgerChangedError(changed)
                if head.entries > 1 and not self.is_read_only:
                    self._enter_accounts(store)
            elif head.entries:
                raise LedgerBrokenError("entry 0 is missing", 0)
            else:
                store.write(opening_record(now), None)
        self._seed, self._opened = now.seed, stored or now
        return now

    def begin_anew(self, fingerprint: Mapping[str, str], seed: bytes) -> Opening:
        """Write another opening in place of the one that is there: only as long as nothing was sold."""
        with self.transaction(), self._store() as store:
            if last_head(store).entries > 1:
                raise StorageError("values were sold from the ledger; it cannot begin anew")
            store.remove_opening()
            store.write(opening_record(now := Opening(fingerprint, seed, self.now())), None)
        self._seed, self._opened = now.seed, now
        return now

    @property
    def has_sales(self) -> bool:
        """Whether anything was sold."""
        return self.head().entries > 1

    def append(self, purchase: Purchase, *, is_new: bool = False) -> Entry:
        """Add a purchase; it is durable when this returns, unless a transaction goes on around it.

        The same request with the same key is not added again: the entry it has is returned. A KeyReusedError says
        that the key is another request's. With `is_new` the caller has looked, in the transaction around it, and found
        none.
        """
        with self.transaction(), self._store() as store:
            found = None if is_new else _bought(store, purchase.buyer, purchase.idempotency_key, purchase.request)
            if found is not None:
                return found
            head = self._last_head(store)
            if self._clock is not None and purchase.time is None:
                purchase = replace(purchase, time=self.now())
            record = purchase_record(purchase, head.entries, head.hash, self._salt_seed(store))
            store.write(record, store.total(purchase.buyer).plus(purchase.price))
            if head.entries == 1:
                self._enter_accounts(store)
        return Entry(record.sequence, record.previous, record.hash, purchase)

    def agree(self, agreement: AcceptedTerms) -> Entry:
        """Add terms that a buyer has accepted; durable as a purchase is, and added once under their key."""
        with self.transaction(), self._store() as store:
            record = store.bought(agreement.buyer, agreement.key)
            if record is not None:
                entry = checked_entry(record)
                if not isinstance(entry.payload, AcceptedTerms):
                    raise KeyReusedError.at(record.sequence)
                return entry
            head = self._last_head(store)
            record = terms_record(agreement, head.entries, head.hash, self._salt_seed(store))
            store.write(record, store.total(agreement.buyer))
            if head.entries == 1:
                self._enter_accounts(store)
        return Entry(record.sequence, record.previous, record.hash, agreement)

    def change_account(self, name: str, change: Change) -> None:
        """Let an account become another, and say so in an entry of the same transaction, once something was sold."""
        with self.transaction(), self._store() as store:
            before = next((one for one in store.accounts() if one.name == name), None)
            after = change(before)
            if after == before:
                return
            store.put_account(after)
            if last_head(store).entries > 1:
                self._enter(store, before, after)

    def accounts(self) -> list[Account]:
        """All accounts, by name in order."""
        with self._store() as store:
            return store.accounts()

    def _enter_accounts(self, store: Store) -> None:
        """Enter the accounts that no entry says anything of, as they are."""
        for account in store.not_entered():
            self._enter(store, account, account)

    def _enter(self, store: Store, before: Account | None, after: Account) -> None:
        head = last_head(store)
        store.write(
            account_record(AccountChange.of(before, after, self.now()), *head, self._salt_seed(store)), total=None
        )

    def find_terms(self, buyer: str, key: str) -> Entry | None:
        """The terms that a buyer has accepted under this key, or None."""
        with self._store() as store:
            record = store.bought(buyer, key)
            entry = None if record is None else checked_entry(record)
            return entry if entry is not None and isinstance(entry.payload, AcceptedTerms) else None

    def tabs(self) -> dict[str, Tab]:
        """What every buyer has bought by the list, and on which terms it buys now."""
        found: dict[str, Tab] = {}
        for entry in self.entries(1):
            put_on_tab(found, entry.about_buyer)
        return {buyer: tab.at(self.now()) for buyer, tab in found.items()}

    def _last_head(self, store: Store) -> Head:
        """The head that the next entry follows."""
        head = last_head(store)
        if not head.entries:
            raise StorageError("the ledger has no opening yet; open it before selling")
        if head.entries == 1:
            self._check_opening(store, head.hash)
        return head

    def find(self, buyer: str, idempotency_key: str, request: Request | None = None) -> Entry | None:
        """The buyer's purchase with this key, or None; a KeyReusedError if it was for another request."""
        check_buyer(buyer)
        check_key(idempotency_key)
        with self._store() as store:
            return _bought(store, buyer, idempotency_key, request)

    def bought_by(self, buyer: str, after: int = 0, limit: int = PAGE) -> list[Entry]:
        """A page of one buyer's purchases, in order: at most `limit`, after the sequence number `after`.

        All pages together take time linear in the ledger's length, without an index that a purchase would have to
        write: a buyer with m of n entries has them looked through again for every page only if m · m ≤ limit · n.
        """
        check_buyer(buyer)
        with self._store() as store:
            few = store.total(buyer).purchases ** 2 <= limit * head_record(store).entries
        found: list[Entry] = []
        while (left := limit - len(found)) > 0:
            with self._store() as store:
                page = store.bought_by(buyer, after, min(left, PART), few=few)
            found += [one for one in map(checked_entry, page) if isinstance(one.payload, Purchase)]
            if len(page) < min(left, PART):
                break
            after = page[-1].sequence
        return found

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """The entries from a sequence number on, in order, the chain checked on the way; a page of them in memory.

        Ends with the last entry that is there when it gets to it, whichever process appended it.
        """
        before = self._before(start)
        while before is not None:
            with self._store() as store:
                page = store.page(before.entries, PAGE)
            for record in page:
                check_link(record, before)
                yield known_entry(record)
                before = Head(record.sequence + 1, record.hash)
            if not page:
                return

    def after(self, known: Head) -> list[Entry]:
        """The entries after a head that was known, if the ledger still holds it; a LedgerWentBackError if not.

        What was known must be read before this is called: whatever was durable then is there now.
        """
        with self._store() as store:
            head = head_record(store)
            if head == known:
                return []
            if known.entries == 1 and (opening := store.record(0)) is not None:
                self._check_opening(store, opening.hash)
            page = store.page(known.entries, PAGE) if head.entries > known.entries else []
        check_holds(head, known, page[0] if page and page[0].sequence == known.entries else None)
        entries, before = [], known
        while page:
            for record in page:
                check_link(record, before)
                entries.append(known_entry(record))
                before = Head(record.sequence + 1, record.hash)
            if before.entries >= head.entries:
                break
            with self._store() as store:
                page = store.page(before.entries, PAGE)
        return entries

    def hashes_after(self, known: Head) -> Iterator[Sequence[str]]:
        """The hashes of the entries after a head that was known, page by page, each linked to the one before."""
        before = known
        while True:
            with self._store() as store:
                links = store.links(before.entries, PAGE)
            if not links:
                return
            hashes = [found for _, _, found in links]
            linked = zip(count(before.entries), [before.hash, *hashes], hashes, strict=False)
            for expected, link in zip(linked, links, strict=False):
                if expected != link:
                    broken = expected[0]
                    raise LedgerBrokenError(f"entry {broken} does not follow the one before it", broken)
            yield hashes
            before = Head(before.entries + len(links), hashes[-1])
            if len(links) < PAGE:
                return

    def look_ahead(self, purchases: Iterable[tuple[str, str]]) -> None:
        """Buyers and keys that are asked for in the transaction that goes on: a store may read all of it at once."""
        with self._store() as store:  # who asks for what can be no name is told
            store.look_ahead((buyer, key) for buyer, key in purchases if is_name(buyer) and is_name(key))

    def check_holds(self, noted: Head) -> None:
        """Raise if the ledger no longer holds a head that was noted; until the first sale it may begin anew."""
        if noted.entries > 1:
            with self._store() as store:
                head = head_record(store)
                check_holds(head, noted, store.record(noted.entries) if head.entries > noted.entries else None)

    @property
    def opened_head(self) -> Head:
        """The head as it was when this process opened the ledger and nothing had been sold."""
        if self._opened is None:
            raise StorageError("the ledger has no opening yet; open it before selling")
        return Head(1, opening_record(self._opened).hash)

    def head(self) -> Head:
        """How many entries there are, and the hash of the last, as the head record says."""
        with self._store() as store:
            return head_record(store)

    def total(self, buyer: str) -> Total:
        """What the buyer has bought so far."""
        check_buyer(buyer)
        with self._store() as store:
            return store.total(buyer)

    def totals(self) -> dict[str, Total]:
        """What every buyer has bought so far, by name in order."""
        with self._store() as store:
            return dict(sorted(store.totals().items()))

    def verify(self, noted: Head | None = None, visit: Visit | None = None) -> Verification:
        """Check the whole chain, the head record and the totals, against a head noted earlier if one is given.

        `visit` is shown each entry that holds, in order, all of them as they are at one moment.
        """
        with self._snapshot() as records:
            return verify_chain(records, noted, visit)

    def requests(self) -> list[tuple[str, Request]]:
        """Who has bought what, in order, if the whole chain holds."""
        found = self.verify()
        if found.problem is not None:
            raise LedgerBrokenError(found.problem, found.first_bad)
        bought = (entry.payload for entry in self.entries(1))
        return [(one.buyer, one.request) for one in bought if isinstance(one, Purchase)]

    def now(self) -> int | None:
        """The time that an entry would have, in seconds since 1970; None where nobody tells it."""
        return None if self._clock is None else self._clock()

    def _salt_seed(self, store: Store) -> bytes:
        """The seed, read from the opening once: entry 0 stays what it is."""
        if self._seed is None:
            opening = _opening(store)
            if opening is None:
                raise LedgerBrokenError("entry 0 is missing", 0)
            self._seed = opening.seed
        return self._seed

    def _before(self, start: int) -> Head | None:
        """The head as it was when entry `start` was the next one; None if there is nothing from there on."""
        if start <= 0:
            return EMPTY
        with self._store() as store:
            page = store.page(start - 1, 1)
            if start == 1 and page and page[0].sequence == 0:
                self._check_opening(store, page[0].hash)
        if page and page[0].sequence != start - 1:
            raise LedgerBrokenError(f"entry {start - 1} is missing", start - 1)
        return Head(start, page[0].hash) if page else None

    def _check_opening(self, store: Store, stored: str) -> None:
        """Raise if another process has begun anew since this one opened the ledger: that is, before the first sale."""
        if self._opened is not None and opening_record(self._opened).hash != stored:
            now = _opening(store)
            raise LedgerChangedError(() if now is None else now.changed(self._opened))


def _opening(store: Store) -> Opening | None:
    record = store.record(0)
    if record is None:
        return None
    payload = checked_entry(record).payload
    assert isinstance(payload, Opening)  # entry 0 can be nothing else
    return payload


def _bought(store: Store, buyer: str, idempotency_key: str, request: Request | None) -> Entry | None:
    record = store.bought(buyer, idempotency_key)
    if record is None:
        return None
    entry = checked_entry(record)
    is_purchase = isinstance(entry.payload, Purchase)
    if request is not None and not (is_purchase and _same(entry.purchase.request, request)):
        raise KeyReusedError.at(entry.sequence)
    return entry if is_purchase else None


def _same(one: Request, other: Request) -> bool:
    return (dict(one.tuple), one.attribute, one.level) == (dict(other.tuple), other.attribute, other.level)
