"""The ledger in memory: for experiments, demonstrations and tests."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from operator import attrgetter
from threading import RLock
from typing import NamedTuple

from pacas.core.words import counted
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.chain import EMPTY, Head, Link, Records, Total
from pacas.provider.ledger.entry import Record
from pacas.provider.ledger.ledger import Ledger, Store


class MemoryLedger(Ledger):
    """A ledger that lasts as long as its process."""

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        self._lock = RLock()
        self._clock = clock
        self._kept = _MemoryStore()
        self._in_transaction = False

    def __repr__(self) -> str:
        return f"MemoryLedger({counted(len(self._kept.records), 'entry', 'entries')})"

    def transaction(self) -> AbstractContextManager[None]:
        return _MemoryTransaction(self)

    def close(self) -> None:
        pass

    def _store(self) -> AbstractContextManager[Store]:
        return _MemoryAccess(self)

    def _snapshot(self) -> AbstractContextManager[Records]:
        return _MemoryAccess(self)


class _MemoryTransaction:
    """A ledger's transaction; one inside another joins it. A class, as it is on the way of every sale."""

    __slots__ = ("_before", "_ledger")

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    def __enter__(self) -> None:
        ledger = self._ledger
        ledger._lock.acquire()
        self._before = None if ledger._in_transaction else ledger._kept.mark()
        ledger._in_transaction = True

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        ledger = self._ledger
        if self._before is not None:
            ledger._in_transaction = False
            if error is not None:
                ledger._kept.go_back(self._before)
        ledger._lock.release()


class _MemoryAccess:
    """A ledger's records, for one thread at a time."""

    __slots__ = ("_ledger",)

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    def __enter__(self) -> _MemoryStore:
        self._ledger._lock.acquire()
        return self._ledger._kept

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._ledger._lock.release()


class _MemoryStore:
    """Records in a list, in order of their sequence numbers, and where to find each purchase."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._bought: dict[tuple[str, str], int] = {}
        self._totals: dict[str, Total] = {}
        self._head: Head | None = EMPTY
        self._accounts: Mapping[str, Account] = {}

    def record(self, sequence: int) -> Record | None:
        found = self.page(sequence, 1)
        return found[0] if found and found[0].sequence == sequence else None

    def bought(self, buyer: str, idempotency_key: str) -> Record | None:
        sequence = self._bought.get((buyer, idempotency_key))
        return None if sequence is None else self.record(sequence)

    def look_ahead(self, purchases: Iterable[tuple[str, str]]) -> None:
        pass

    def bought_by(self, buyer: str, after: int, limit: int, *, few: bool) -> list[Record]:
        first = bisect_left(self.records, after + 1, key=attrgetter("sequence"))
        return list(islice((r for r in islice(self.records, first, None) if r.buyer == buyer), limit))

    def page(self, start: int, limit: int) -> list[Record]:
        is_whole = 0 <= start < len(self.records) and self.records[start].sequence == start
        first = start if is_whole else bisect_left(self.records, start, key=attrgetter("sequence"))
        return self.records[first : first + limit]

    def links(self, start: int, limit: int) -> list[Link]:
        return [record[:3] for record in self.page(start, limit)]

    def head(self) -> Head | None:
        return self._head

    def total(self, buyer: str) -> Total:
        return self._totals.get(buyer, Total())

    def totals(self) -> dict[str, Total]:
        return dict(self._totals)

    def damage(self) -> str | None:
        return None

    def accounts(self) -> list[Account]:
        return [account for _, account in sorted(self._accounts.items())]

    def not_entered(self) -> list[Account]:
        entered = {record.buyer for record in self.records if record.is_account}
        return [account for account in self.accounts() if account.name not in entered]

    def put_account(self, account: Account) -> None:
        self._accounts = {**self._accounts, account.name: account}

    def write(self, record: Record, total: Total | None) -> None:
        self.records.append(record)
        self._head = Head(record.sequence + 1, record.hash)
        if record.buyer is not None and record.idempotency_key is not None and total is not None:
            self._bought[record.buyer, record.idempotency_key] = record.sequence
            self._totals[record.buyer] = total

    def remove_opening(self) -> None:
        self.records.clear()

    def mark(self) -> _Mark:
        """What `go_back` comes back to."""
        return _Mark(len(self.records), self.records[:1], self._head, self._accounts)

    def go_back(self, mark: _Mark) -> None:
        """Take back what was written since the mark."""
        entries, self.records[:1], self._head, self._accounts = mark
        for record in reversed(self.records[entries:]):
            if record.buyer is None or record.idempotency_key is None or record.price is None or record.is_account:
                continue
            del self._bought[record.buyer, record.idempotency_key]
            purchases, spent = self._totals.pop(record.buyer)
            if any(buyer == record.buyer for buyer, _ in self._bought):
                self._totals[record.buyer] = Total(purchases - (not record.is_terms), spent - record.price)
        del self.records[entries:]


class _Mark(NamedTuple):
    """How many records there were, the first, the head, and the accounts."""

    entries: int
    first: list[Record]
    head: Head | None
    accounts: Mapping[str, Account]
