"""What has been sold of a relation that stays on the engine: cell by cell, the lowest level. The rest is not there.

An edit is ruled out by what was bought of the cells that it changes, so that nothing else has to be kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

import numpy as np

from pacas.engine.grouping import Ints
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.entry import Purchase
from pacas.provider.on_engine.relation_summary import Whole
from pacas.provider.pricing.knowledge import Levels
from pacas.provider.safety.surviving import Beyond
from pacas.provider.terms import History

Find = Callable[[str, Sequence[Mapping[str, str | None]]], list[tuple[int, ...]]]
"""From an attribute and tuples to the rows that each matches, however many."""


class Sold:
    """One buyer's purchases, or those of all together."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self._depth: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._gone = 0
        """Neighbours that may be ruled out: all of each cell that was bought."""

    def learn(self, attribute: str, rows: Iterable[int], level: int) -> None:
        """Some cells were bought at a level."""
        depth, of_row = self._whole.columns[attribute].hierarchy.height - level, self._depth[attribute]
        cover = self._whole.cover
        for row in rows if depth else ():
            if row not in of_row:
                self._gone += self._whole.of_a_cell[attribute] + cover.of_cell(attribute, row)
                if not any(row in others for others in self._depth.values()):
                    self._gone += cover.edits_of_row[row]
            of_row[row] = max(depth, of_row.get(row, 0))

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

    def beyond(self) -> Beyond:
        """What is left in all, as if nothing were left of a cell that was bought."""
        return Beyond(max(self._whole.neighbours - self._gone, 0), self._whole.most_droppers, False)


class SparseSales:
    """The purchases that have been made. Private to one provider, under its lock."""

    def __init__(self, whole: Whole, find: Find) -> None:
        self._whole, self._find = whole, find
        self._nothing = Sold(whole)
        self._all = Sold(whole)
        self._of: dict[str, Sold] = {}
        self._totals: dict[str, Total] = {}
        self.count = 0
        """Purchases taken in."""

    def known(self, buyer: str) -> Sold:
        """What a buyer has bought: the price counts what that has left."""
        return self._of.get(buyer, self._nothing)

    def judged(self, buyer: str) -> Sold:
        """What a sale to this buyer is judged on (D8)."""
        return self._all if self._whole.terms.history is History.POOLED else self.known(buyer)

    def everything(self) -> Sold:
        """What all buyers have bought."""
        return self._all

    def buyers(self) -> dict[str, Sold]:
        return dict(sorted(self._of.items()))

    def totals(self) -> dict[str, Total]:
        """What every buyer has bought and paid, by name in order, from the purchases themselves."""
        return dict(sorted(self._totals.items()))

    def add(self, purchase: Purchase, rows: Iterable[int]) -> None:
        """Take in one purchase, and the rows that it is about."""
        request, rows = purchase.request, tuple(rows)
        if purchase.buyer not in self._of:
            self._of[purchase.buyer] = Sold(self._whole)
        for sold in (self._all, self._of[purchase.buyer]):
            sold.learn(request.attribute, rows, request.level)
        self._totals[purchase.buyer] = self._totals.get(purchase.buyer, Total()).plus(purchase.price)
        self.count += 1

    def replay(self, purchases: Iterable[Purchase]) -> None:
        """Take in many at once; where a provider that held the relation has left the rows out, they are looked up."""
        taken = list(purchases)
        without = sorted((p for p in taken if p.rows is None), key=lambda p: p.request.attribute)
        found: dict[int, tuple[int, ...]] = {}
        for attribute, group in groupby(without, key=lambda p: p.request.attribute):
            mine = list(group)
            rows = self._find(attribute, [p.request.tuple for p in mine])
            found |= {id(p): of_one for p, of_one in zip(mine, rows, strict=True)}
        for purchase in taken:
            self.add(purchase, found[id(purchase)] if purchase.rows is None else purchase.rows)
