"""What an audit counts of a relation that stays on the engine: batch by batch, every X-group and every cell sold.

An X-group of very many rows is judged by its first ones, as requests are; it shows at least what these show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pacas.core.anonymity import Policy
from pacas.engine.grouping import Ints
from pacas.provider.ledger.entry import Purchase
from pacas.provider.on_engine.covering import AT_A_TIME, MOST_OF_A_GROUP
from pacas.provider.on_engine.row_subset import Part
from pacas.provider.on_engine.shop import OnEngine
from pacas.provider.on_engine.sparse_sales import Sold, SparseSales
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.surviving import Beyond
from pacas.provider.terms import History


@dataclass
class CountedGroups:
    """One policy's X-groups: how many, by how far they are above their bound, and rows in none."""

    groups: int = 0
    unlinked_rows: int = 0
    margins: Counter[int] = field(default_factory=Counter)
    short_together: int = 0
    """How many are short with the purchases of all buyers pooled."""


@dataclass
class CountedSales:
    """What one buyer's purchases have ruled out: how many neighbours, and what they weigh."""

    ruled_out: int = 0
    due: int = 0


class CountedShop(NamedTuple):
    """What follows from the purchases: per policy, and per buyer."""

    groups: Sequence[CountedGroups]
    sales: Mapping[str, CountedSales]


def counted_shop(shop: OnEngine, purchases: Sequence[Purchase]) -> CountedShop:
    """Everything, from the ledger's purchases alone."""
    sales = shop.sales_of(purchases)
    together, of_buyer = _counted_sales(shop, sales)
    alive = {buyer: shop.neighbours - found.ruled_out for buyer, found in of_buyer.items()}
    left = _Left(sales, shop.neighbours - together.ruled_out, alive, shop)
    return CountedShop([_of_policy(shop, left, policy) for policy in shop.terms.policies], of_buyer)


def _counted_sales(shop: OnEngine, sales: SparseSales) -> tuple[CountedSales, dict[str, CountedSales]]:
    """All purchases together, and each buyer's, from the rows of which something was sold to anybody."""
    together, found = CountedSales(), {buyer: CountedSales() for buyer in sales.buyers()}
    protected = shop.terms.protected
    every = sales.everything().rows()
    for start in range(0, len(every), AT_A_TIME):
        rows = every[start : start + AT_A_TIME]
        part = Part(shop.whole, rows, shop.engine.rows(shop.table, rows, list(protected)), protected)
        _count(shop, part, sales.everything(), together)
        for buyer, sold in sales.buyers().items():
            _count(shop, part, sold, found[buyer])
    return together, found


def _count(shop: OnEngine, part: Part, sold: Sold, found: CountedSales) -> None:
    known, weighing = part.known(sold.depths(shop.terms.protected, part.rows)), shop.whole.weighing
    for attribute, cells in part.support.cells.items():
        gone = cells.divergence > known.level(attribute, cells.rows)
        found.ruled_out += int(gone.sum())
        found.due += int(weighing.of(part.numbers(attribute)[gone]).sum())
    found.ruled_out += int(known.ruled_out.sum())
    found.due += int(weighing.of(part.edit_numbers[known.ruled_out]).sum())


@dataclass
class _Left:
    """What purchases have left: which, and exactly how many neighbours."""

    sales: SparseSales
    together: int
    of_buyer: Mapping[str, int]
    shop: OnEngine

    def values(self, part: Part, policy: Policy) -> tuple[Ints, Ints]:
        """How many values each group shows: as it is judged (D8), and with all purchases pooled."""
        linked = part.linked([policy])
        pooled = self._shown(part, linked, self.sales.everything(), self.together)
        if self.shop.terms.history is History.POOLED:
            return pooled, pooled
        least = self._shown(part, linked, Sold(self.shop.whole), self.shop.neighbours)
        for buyer, sold in self.sales.buyers().items():
            least = np.minimum(least, self._shown(part, linked, sold, self.of_buyer[buyer]))
        return least, pooled

    def _shown(self, part: Part, linked: Sequence[LinkedValues], sold: Sold, alive: int) -> Ints:
        depths = sold.depths(part.heights, part.rows)
        beyond = Beyond(alive, self.shop.whole.most_droppers, False)
        return part.surviving(depths, linked, beyond).margins[0].values(alive)


def _of_policy(shop: OnEngine, left: _Left, policy: Policy) -> CountedGroups:
    index = shop.index_by(policy.x)
    found = CountedGroups(unlinked_rows=shop.rows - len(index))
    _, attributes = shop.whole.bearing_on(policy.y[0])
    needed = list(dict.fromkeys([*policy.x, *attributes]))
    for batch in index.batches(AT_A_TIME, MOST_OF_A_GROUP):
        if len(batch):
            part = Part(shop.whole, batch.column("row").to_numpy(), batch.select(needed), attributes)
            values, pooled = left.values(part, policy)
            found.groups += len(values)
            found.margins.update((values - policy.k).tolist())
            found.short_together += int((pooled < policy.k).sum())
    return found
