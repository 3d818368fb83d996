"""What has been sold so far, as it bears on the next quote: one buyer's for the price, all buyers' for safety (D8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from pacas.provider.conflicts import Inquiry
from pacas.provider.entry import Purchase
from pacas.provider.known import ConflictSets, Ints, Known
from pacas.provider.stock import Stock
from pacas.provider.surviving import Surviving
from pacas.provider.terms import History


class Sales:
    """The purchases that have been made, and what they have left. Private to one provider, under its lock."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self._pooled = stock.terms.history is History.POOLED
        self._all = stock.untouched.copy()
        self._of: dict[str, Surviving] = {}
        self._known: dict[str, Known] = {}
        self._nothing = self._fresh()
        self.count = 0
        """Purchases taken in."""

    def known(self, buyer: str) -> Known:
        """What a buyer has bought: the price counts what that has left."""
        return self._known.get(buyer, self._nothing)

    def judged(self, buyer: str) -> Surviving:
        """What a sale to this buyer is judged on: what all buyers have left, or, if so agreed, this one alone."""
        return self._all if self._pooled else self._of.get(buyer, self._stock.untouched)

    def add(self, buyer: str, sets: ConflictSets, level: int) -> None:
        """Take in one purchase."""
        self._all.apply(sets, level)
        if not self._pooled:
            self._of.setdefault(buyer, self._stock.untouched.copy()).apply(sets, level)
        self._known.setdefault(buyer, self._fresh()).learn(sets, level)
        self.count += 1

    def replay(self, purchases: Iterable[Purchase]) -> None:
        """Take in many at once: a restarted provider, or the purchases of another process."""
        taken = list(purchases)
        self.count += len(taken)
        for buyer, learned in learned_by_buyer(taken, self._stock.inquiries):
            known = self._known.setdefault(buyer, self._fresh())
            for sets, levels in learned:
                known.learn(sets, levels)
            self._all.learn(learned)
            if not self._pooled:
                own = self._of.setdefault(buyer, self._stock.untouched.copy())
                own.learn(learned)
                own.recount()
        if taken:
            self._all.recount()

    def _fresh(self) -> Known:
        known = self._stock.untouched.known
        return Known(known.heights, self._stock.rows, len(self._stock.support.edits))


Learned = list[tuple[ConflictSets, Ints]]
"""Conflict sets of one attribute's requests, and the level of each."""


def learned_by_buyer(purchases: Sequence[Purchase], inquiries: Mapping[str, Inquiry]) -> Iterator[tuple[str, Learned]]:
    """What each buyer's purchases have taught, attribute by attribute."""
    ordered = sorted(purchases, key=lambda p: (p.buyer, p.request.attribute))
    for buyer, of_buyer in groupby(ordered, key=lambda p: p.buyer):
        learned = []
        for attribute, group in groupby(of_buyer, key=lambda p: p.request.attribute):
            mine = list(group)
            levels = np.array([p.request.level for p in mine], dtype=np.int64)
            learned.append((conflict_sets(mine, inquiries[attribute]), levels))
        yield buyer, learned


def conflict_sets(purchases: Sequence[Purchase], inquiry: Inquiry) -> ConflictSets:
    """The conflict sets of purchases of one attribute; without edits the row numbers in the ledger say it all."""
    if inquiry.has_edits or any(p.rows is None for p in purchases):
        columns = inquiry.offer.columns
        return inquiry.ask({c: [p.request.tuple[c] for p in purchases] for c in columns}).sets
    sizes = [len(p.rows or ()) for p in purchases]
    rows = np.fromiter((row for p in purchases for row in p.rows or ()), np.int64, sum(sizes))
    nothing = np.empty(0, dtype=np.int64)
    offsets = np.append(0, np.cumsum(np.array(sizes, dtype=np.int64)))
    return ConflictSets(inquiry.offer.attribute, offsets, rows, nothing, nothing, np.empty(0, dtype=np.int8))
