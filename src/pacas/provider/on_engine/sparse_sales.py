"""What has been sold of a relation that stays on the engine: cell by cell, the lowest level. The rest is not there.

An edit is ruled out by what was bought of the cells that it changes, so that nothing else has to be kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from pacas.engine.grouping import Ints
from pacas.provider.ledger.entry import Purchase
from pacas.provider.on_engine.relation_summary import RelationSummary
from pacas.provider.pricing.conflicts import Levels
from pacas.provider.safety.surviving import RelationCounts
from pacas.provider.shop.contract import Kept, RecordedSales
from pacas.provider.terms import HistoryScope

Find = Callable[[str, Sequence[Mapping[str, str | None]]], list[tuple[int, ...]]]
"""From an attribute and tuples to the rows that each matches, however many."""


class SoldCells:
    """One buyer's purchases, or those of all together."""

    def __init__(self, summary: RelationSummary) -> None:
        self._summary = summary
        self._depth: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._gone = 0
        """Neighbours that may be ruled out: all of each cell that was bought."""

    def learn(self, attribute: str, rows: Iterable[int], level: int) -> None:
        """Some cells were bought at a level."""
        depth, of_row = self._summary.columns[attribute].hierarchy.height - level, self._depth[attribute]
        covering = self._summary.covering
        for row in rows if depth else ():
            if row not in of_row:
                self._gone += self._summary.of_a_cell[attribute] + covering.of_cell(attribute, row)
                if not any(row in others for others in self._depth.values()):
                    self._gone += covering.edits_of_row[row]
            of_row[row] = max(depth, of_row.get(row, 0))

    def plain(self) -> dict[str, Any]:
        """All of it in values that JSON has: per attribute the rows, and how deep each was bought."""
        return {a: [list(of_row), list(of_row.values())] for a, of_row in self._depth.items()}

    def learn_plain(self, plain: Mapping[str, Any]) -> None:
        """Learn what was written so."""
        for attribute, (rows, depths) in plain.items():
            height = self._summary.columns[attribute].hierarchy.height
            for row, depth in zip(rows, depths, strict=True):
                self.learn(attribute, (row,), height - depth)

    def depths(self, attributes: Iterable[str], rows: Ints) -> dict[str, Levels]:
        """How many levels below the root some rows' cells were bought."""
        found = {}
        for attribute in attributes:
            of_row = self._depth.get(attribute)
            if of_row:
                found[attribute] = np.fromiter((of_row.get(row, 0) for row in rows.tolist()), np.int8, len(rows))
        return found

    def rows(self) -> Ints:
        """The rows of which something was bought."""
        return np.array(sorted(set().union(*self._depth.values())), dtype=np.int64)

    def in_all(self) -> RelationCounts:
        """What is left in all, as if nothing were left of a cell that was bought."""
        return RelationCounts(max(self._summary.neighbours - self._gone, 0), self._summary.most_droppers, False)


class SparseSales(RecordedSales):
    """The purchases that have been made. Private to one provider, under its lock."""

    def __init__(self, summary: RelationSummary, find: Find) -> None:
        super().__init__()
        self._summary, self._find = summary, find
        self._nothing = SoldCells(summary)
        self._all = SoldCells(summary)
        self._of: dict[str, SoldCells] = {}

    def known(self, buyer: str) -> SoldCells:
        """What a buyer has bought: the price counts what that has left."""
        return self._of.get(buyer, self._nothing)

    def judged(self, buyer: str) -> SoldCells:
        """What a sale to this buyer is judged on (D8)."""
        return self._all if self._summary.terms.history is HistoryScope.POOLED else self.known(buyer)

    def everything(self) -> SoldCells:
        """What all buyers have bought."""
        return self._all

    def buyers(self) -> dict[str, SoldCells]:
        return dict(sorted(self._of.items()))

    def add(self, purchase: Purchase, rows: Iterable[int]) -> None:
        """Take in one purchase, and the rows that it is about."""
        request, rows = purchase.request, tuple(rows)
        if purchase.buyer not in self._of:
            self._of[purchase.buyer] = SoldCells(self._summary)
        for sold in (self._all, self._of[purchase.buyer]):
            sold.learn(request.attribute, rows, request.level)
        self._count(purchase)

    def replay(self, purchases: Iterable[Purchase]) -> None:
        """Take in many purchases at once; the rows that an entry leaves out, as in memory, are looked up."""
        taken = list(purchases)
        without = sorted((p for p in taken if p.rows is None), key=lambda p: p.request.attribute)
        found: dict[int, tuple[int, ...]] = {}
        for attribute, group in groupby(without, key=lambda p: p.request.attribute):
            mine = list(group)
            rows = self._find(attribute, [p.request.tuple for p in mine])
            found |= {id(p): of_one for p, of_one in zip(mine, rows, strict=True)}
        for purchase in taken:
            self.add(purchase, found[id(purchase)] if purchase.rows is None else purchase.rows)

    def _kept(self) -> Kept:
        return {buyer: sold.plain() for buyer, sold in self._of.items()}

    def _take_back(self, kept: Kept) -> None:
        for buyer, sold in kept.items():
            self._of[buyer] = SoldCells(self._summary)
            for one in (self._all, self._of[buyer]):
                one.learn_plain(sold)
