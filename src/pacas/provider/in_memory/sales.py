"""What has been sold so far, as it bears on the next quote: one buyer's for the price, all buyers' for safety (D8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from pacas.engine.grouping import Ints, spread
from pacas.provider.in_memory.quote_cache import QuoteCache
from pacas.provider.in_memory.stock import Stock
from pacas.provider.ledger.entry import Purchase
from pacas.provider.pricing.conflicts import ConflictSets, Inquiry, without_edits
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.safety.surviving import Surviving
from pacas.provider.shop.contract import Kept, RecordedSales
from pacas.provider.terms import HistoryScope

FEW, SHARE = 64, 16
"""Purchases up to which each is taken in by itself, or one for so many rows: for more it is faster to count all anew,
and to find all quotes again that are kept."""


class Sales(RecordedSales):
    """The purchases that have been made, and what they have left. Private to one provider, under its lock."""

    def __init__(self, stock: Stock) -> None:
        super().__init__()
        self._stock = stock
        self._pooled = stock.terms.history is HistoryScope.POOLED
        self._all = stock.untouched.copy()
        self._of: dict[str, Surviving] = {}
        self._known: dict[str, Knowledge] = {}
        self._nothing = self._fresh()
        self._pending = _Pending()
        self.quote_caches = self._quote_caches() if self._pooled else {}
        """The quotes that are kept, of each attribute for which they can be."""
        self._affected = self._affected_by()
        self._apart = {
            attribute
            for attribute, cache in self.quote_caches.items()
            if all(cache.contains_groups(x.members, x.group) for x in self._all.linking(attribute, attribute))
        }
        """The attributes of which no X-group reaches beyond a slot, as D5 demands."""

    def known(self, buyer: str) -> Knowledge:
        """What a buyer has bought: the price counts what that has left."""
        return self._known.get(buyer, self._nothing)

    def judged(self, buyer: str) -> Surviving:
        """What a sale to this buyer is judged on: what all buyers have left, or, if so agreed, this one alone."""
        return self.current() if self._pooled else self._of.get(buyer, self._stock.untouched)

    def current(self) -> Surviving:
        """What all buyers have left."""
        for sets, levels in self._pending.take():
            self._all.apply(sets, levels)
        return self._all

    def steady(self, rows: int) -> bool:
        """Do quotes of so many rows that are kept still hold, with whatever waits to be taken in?"""
        return self._all.steady(rows + self._pending.rows) or self.current().steady(rows)

    def add(self, purchase: Purchase, sets: ConflictSets) -> None:
        """Take in one purchase of an attribute whose quotes are not kept."""
        levels = np.array([purchase.request.level])
        if len(sets.edit):
            self.current().apply(sets, levels)
        else:
            self._pending.put(sets.attribute, sets.rows, purchase.request.level)
        self._learner(purchase.buyer).learn(sets, levels)
        if not self._pooled:
            self._own(purchase.buyer).apply(sets, levels)
        for attribute in self._affected[sets.attribute]:
            everything = slice(None)  # an edit may touch any group
            rows = everything if len(sets.edit) else self._all.touched(sets.attribute, sets.rows, attribute)
            self.quote_caches[attribute].forget(rows)
        self._count(purchase)

    def add_slot(self, purchase: Purchase, slot: int) -> None:
        """Take in one purchase of all rows of a slot; it waits until a quote has to be found again."""
        sold, level = purchase.request.attribute, purchase.request.level
        cache = self.quote_caches[sold]
        rows = cache.rows(slot)
        self._pending.put(sold, rows, level)
        known = self._learner(purchase.buyer)
        known.learn_rows(sold, rows, level)
        cache.mark_slot(known, slot)
        for attribute in self._affected[sold]:
            if attribute == sold and sold in self._apart:
                cache.forget_slot(slot)
            else:
                self.quote_caches[attribute].forget(self._all.touched(sold, rows, attribute))
        self._count(purchase)

    def replay(self, purchases: Iterable[Purchase]) -> None:
        taken = list(purchases)
        if len(taken) <= max(FEW, self._stock.rows // SHARE):
            for purchase in taken:
                self._add_found(purchase)
            return
        self.current()
        for purchase in taken:
            self._count(purchase)
        for buyer, learned in learned_by_buyer(taken, self._stock.inquiries):
            known = self._learner(buyer)
            for sets, levels in learned:
                known.learn(sets, levels)
            self._all.learn(learned)
            if not self._pooled:
                own = self._own(buyer)
                own.learn(learned)
                own.recount()
        self._count_anew()

    def make_ready(self) -> None:
        for cache in self.quote_caches.values():
            cache.fill()

    def _kept(self) -> Kept:
        return {
            buyer: {
                "edits": np.flatnonzero(known.ruled_out).tolist(),
                "cells": {
                    a: [rows.tolist(), depth[rows].tolist()]
                    for a, depth in known.revealed.items()
                    if len(rows := np.flatnonzero(depth))
                },
            }
            for buyer, known in self._known.items()
        }

    def _take_back(self, kept: Kept) -> None:
        for buyer, of_buyer in kept.items():
            surviving = [self._all] if self._pooled else [self._all, self._own(buyer)]
            for known in (self._learner(buyer), *(one.known for one in surviving)):
                known.ruled_out[of_buyer["edits"]] = True
                for attribute, (rows, depth) in of_buyer["cells"].items():
                    revealed = known.revealed[attribute]
                    revealed[rows] = np.maximum(revealed[rows], depth)
            for own in surviving[1:]:
                own.recount()
        self._count_anew()

    def _count_anew(self) -> None:
        """Count what is left after many purchases; quotes that are kept are found again when they are asked for."""
        self._all.recount()
        for attribute, cache in self.quote_caches.items():
            cache.forget(slice(None))
            for known in self._known.values():
                cache.mark(known, np.flatnonzero(known.revealed[attribute]))

    def _add_found(self, purchase: Purchase) -> None:
        """Take in one purchase of another process, as that one did: what it touches, and nothing else."""
        inquiry = self._stock.inquiries[purchase.request.attribute]
        if purchase.request.attribute in self.quote_caches:
            self.add_slot(purchase, inquiry.matcher.slot(purchase.request.tuple))
        else:
            self.add(purchase, conflict_sets([purchase], inquiry))

    def _own(self, buyer: str) -> Surviving:
        if buyer not in self._of:
            self._of[buyer] = self._stock.untouched.copy()
        return self._of[buyer]

    def _learner(self, buyer: str) -> Knowledge:
        if buyer not in self._known:
            self._known[buyer] = self._fresh()
        return self._known[buyer]

    def _affected_by(self) -> dict[str, list[str]]:
        """Per attribute for sale: those with kept quotes that a sale of it may bear on."""
        return {
            sold: [a for a in self.quote_caches if a == sold or inquiry.has_edits or self._all.linking(sold, a)]
            for sold, inquiry in self._stock.inquiries.items()
        }

    def _quote_caches(self) -> dict[str, QuoteCache]:
        quote_caches = {}
        for attribute, inquiry in self._stock.inquiries.items():
            by_slot = inquiry.matcher.by_slot
            if by_slot is not None and not inquiry.has_edits:
                quote_caches[attribute] = QuoteCache(inquiry, *by_slot, self._stock.prices, self._nothing, self)
        return quote_caches

    def _fresh(self) -> Knowledge:
        known = self._stock.untouched.known
        return Knowledge(known.heights, self._stock.rows, len(self._stock.support.edits))


class _Pending:
    """Purchases without edits that wait to be taken in, by attribute."""

    def __init__(self) -> None:
        self._bought: defaultdict[str, list[tuple[Ints, int]]] = defaultdict(list)
        """Per attribute: the rows of each purchase, and its level."""
        self.rows = 0

    def put(self, attribute: str, rows: Ints, level: int) -> None:
        self._bought[attribute].append((rows, level))
        self.rows += len(rows)

    def take(self) -> Learned:
        """The purchases that wait, which no longer do."""
        taken: Learned = []
        for attribute, bought in self._bought.items():
            rows, levels = zip(*bought, strict=True)
            offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
            sets = without_edits(attribute, offsets, np.concatenate(rows))
            taken.append((sets, np.array(levels, dtype=np.int64)))
        self._bought.clear()
        self.rows = 0
        return taken


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
    """The conflict sets of purchases of one attribute; without edits, the rows that each matched say it all."""
    attribute, columns = inquiry.offer.attribute, inquiry.offer.columns
    if not inquiry.has_edits and inquiry.matcher.by_slot is None:
        rows = [_rows(purchase, inquiry) for purchase in purchases]
        sizes = np.array([len(of_one) for of_one in rows], dtype=np.int64)
        together = np.fromiter((row for of_one in rows for row in of_one), np.int64, int(sizes.sum()))
        return without_edits(attribute, np.append(0, np.cumsum(sizes)), together)
    tuples = {c: [p.request.tuple[c] for p in purchases] for c in columns}
    if inquiry.has_edits:
        return inquiry.ask(tuples, limited=False).sets  # whatever the limit was when they were made
    found = inquiry.matcher.match_columns(tuples)
    return without_edits(attribute, np.append(0, np.cumsum(found.sizes)), found.rows[spread(found.starts, found.sizes)])


def _rows(purchase: Purchase, inquiry: Inquiry) -> Sequence[int]:
    if purchase.rows is not None:
        return purchase.rows
    found: list[int] = inquiry.matcher.match_one(purchase.request.tuple).tolist()
    return found
