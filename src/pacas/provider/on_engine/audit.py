"""What an audit counts of a relation that stays on the engine: batch by batch, every X-group and every cell sold.

An X-group of very many rows is judged by its first ones, as requests are; it shows at least what these show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pacas.core.anonymity import Policy
from pacas.engine.contract import Index
from pacas.engine.grouping import Ints
from pacas.provider.on_engine.covering import AT_A_TIME, MOST_OF_A_GROUP
from pacas.provider.on_engine.relation_summary import Whole
from pacas.provider.on_engine.row_subset import Part
from pacas.provider.on_engine.sparse_sales import Sold, SparseSales
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.surviving import Beyond
from pacas.provider.shop.contract import CountedGroups, CountedSales, CountedShop
from pacas.provider.terms import History

Read = Callable[[Ints, Sequence[str]], pa.Table]
"""From row numbers to the texts of some columns."""
IndexBy = Callable[[Sequence[str]], Index]


def count_sales(whole: Whole, sales: SparseSales, read: Read, index_by: IndexBy) -> CountedShop:
    """What follows from purchases: per policy, over all X-groups, and per buyer."""
    together, of_buyer = _counted_sales(whole, sales, read)
    alive = {buyer: whole.neighbours - found.ruled_out for buyer, found in of_buyer.items()}
    left = _Left(sales, whole.neighbours - together.ruled_out, alive, whole)
    return CountedShop([_of_policy(left, policy, index_by(policy.x)) for policy in whole.terms.policies], of_buyer)


def _counted_sales(whole: Whole, sales: SparseSales, read: Read) -> tuple[CountedSales, dict[str, CountedSales]]:
    """All purchases together, and each buyer's, from the rows of which something was sold to anybody."""
    together, found = CountedSales(), {buyer: CountedSales() for buyer in sales.buyers()}
    protected = whole.terms.protected
    every = sales.everything().rows()
    for start in range(0, len(every), AT_A_TIME):
        rows = every[start : start + AT_A_TIME]
        part = Part(whole, rows, read(rows, protected), protected)
        _count(whole, part, sales.everything(), together)
        for buyer, sold in sales.buyers().items():
            _count(whole, part, sold, found[buyer])
    return together, found


def _count(whole: Whole, part: Part, sold: Sold, found: CountedSales) -> None:
    known, weighing = part.known(sold.depths(whole.terms.protected, part.rows)), whole.weighing
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
    whole: Whole

    def values(self, part: Part, policy: Policy) -> tuple[Ints, Ints]:
        """How many values each group shows: as it is judged (D8), and with all purchases pooled."""
        linked = part.linked([policy])
        pooled = self._shown(part, linked, self.sales.everything(), self.together)
        if self.whole.terms.history is History.POOLED:
            return pooled, pooled
        least = self._shown(part, linked, Sold(self.whole), self.whole.neighbours)
        for buyer, sold in self.sales.buyers().items():
            least = np.minimum(least, self._shown(part, linked, sold, self.of_buyer[buyer]))
        return least, pooled

    def _shown(self, part: Part, linked: Sequence[LinkedValues], sold: Sold, alive: int) -> Ints:
        depths = sold.depths(part.heights, part.rows)
        beyond = Beyond(alive, self.whole.most_droppers, False)
        return part.surviving(depths, linked, beyond).margins[0].values(alive)


def _of_policy(left: _Left, policy: Policy, index: Index) -> CountedGroups:
    whole = left.whole
    found = CountedGroups(unlinked_rows=whole.rows - len(index))
    _, attributes = whole.bearing_on(policy.y[0])
    needed = list(dict.fromkeys([*policy.x, *attributes]))
    for batch in index.batches(AT_A_TIME, MOST_OF_A_GROUP):
        if len(batch):
            part = Part(whole, batch.column("row").to_numpy(), batch.select(needed), attributes)
            values, pooled = left.values(part, policy)
            found.groups += len(values)
            found.margins.update((values - policy.k).tolist())
            found.short_together += int((pooled < policy.k).sum())
    return found
