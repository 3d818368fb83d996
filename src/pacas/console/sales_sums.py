"""Sales over time, summed from the ledger's entries: each entry is read once, however often somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import reduce
from threading import Lock
from typing import NamedTuple, TypeVar

from pacas.errors import LedgerBrokenError
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.refusals import HOUR

DAY = 24 * HOUR
"""Seconds."""

Key = tuple[int | None, str, str, int]
"""A day since 1970 (None: before times were kept), and who bought which attribute at which level."""
K = TypeVar("K", bound=Hashable)


class Summed(NamedTuple):
    """Sales up to an entry."""

    entries: int
    """Entries of the ledger that are counted, the opening among them."""
    by_day: Mapping[Key, Total]
    by_hour: Mapping[int, Total]
    """By hours since 1970; entries without a time are in none."""
    problem: str | None = None
    """Why entries after these cannot be read: the chain is broken there."""

    def total(self) -> Total:
        return _sum(self.by_day.values())

    def on(self, day: int) -> Total:
        """The sales of one day since 1970, UTC."""
        return _sum(total for key, total in self.by_day.items() if key[0] == day)

    def untimed(self) -> Total:
        """What was sold before times were kept."""
        return _sum(total for key, total in self.by_day.items() if key[0] is None)

    def by(self, name: Callable[[Key], K]) -> dict[K, Total]:
        """The sales of each day, attribute, level or buyer, or of any of these together."""
        found: dict[K, Total] = {}
        for key, total in self.by_day.items():
            named = name(key)
            found[named] = _plus(found.get(named, Total()), total)
        return found


class SalesOverTime:
    """The sums of a ledger's sales, brought up to date when they are asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = Lock()
        self._entries = 1
        self._by_day: dict[Key, Total] = {}
        self._by_hour: dict[int, Total] = {}

    def now(self) -> Summed:
        """The sums with all entries that there are now."""
        with self._lock:
            problem = None
            try:
                for entry in self._ledger.entries(self._entries):
                    self._add(entry)
            except LedgerBrokenError as error:
                problem = error.problem
            return Summed(self._entries, dict(self._by_day), dict(self._by_hour), problem)

    def _add(self, entry: Entry) -> None:
        self._entries = entry.sequence + 1
        sold = entry.about_buyer
        if not isinstance(sold, Purchase):
            return
        day = None if sold.time is None else sold.time // DAY
        _count(self._by_day, (day, sold.buyer, sold.request.attribute, sold.request.level), sold.price)
        if sold.time is not None:
            _count(self._by_hour, sold.time // HOUR, sold.price)


def _count(sums: dict[K, Total], key: K, price: int) -> None:
    sums[key] = _plus(sums.get(key, Total()), Total(1, price))


def _plus(one: Total, other: Total) -> Total:
    return Total(one.purchases + other.purchases, one.spent + other.spent)


def _sum(totals: Iterable[Total]) -> Total:
    return reduce(_plus, totals, Total())
