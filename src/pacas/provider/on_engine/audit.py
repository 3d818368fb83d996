"""What an audit counts of a relation that stays on the engine: batch by batch, every X-group and every cell sold.

An X-group of very many rows is judged by its first ones, as requests are; it shows at least what these show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pacas.core.anonymity import Policy
from pacas.engine.contract import Index
from pacas.engine.grouping import Ints
from pacas.provider.on_engine.covering import AT_A_TIME, MOST_OF_A_GROUP
from pacas.provider.on_engine.relation_summary import RelationSummary
from pacas.provider.on_engine.row_subset import RowSubset
from pacas.provider.on_engine.sparse_sales import SoldCells, SparseSales
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.surviving import RelationCounts
from pacas.provider.shop.contract import CountedGroups, CountedSales, CountedShop
from pacas.provider.shop.x_groups import GroupsBehind, JudgedGroups
from pacas.provider.terms import HistoryScope

Read = Callable[[Ints, Sequence[str]], pa.Table]
"""From row numbers to the texts of some columns."""
IndexBy = Callable[[Sequence[str]], Index]


def count_sales(summary: RelationSummary, sales: SparseSales, read: Read, index_by: IndexBy) -> CountedShop:
    """What follows from purchases: per policy, over all X-groups, and per buyer."""
    together, of_buyer = _counted_sales(summary, sales, read)
    alive = {buyer: summary.neighbours - found.ruled_out for buyer, found in of_buyer.items()}
    left = _Remaining(sales, summary.neighbours - together.ruled_out, alive, summary)
    return CountedShop([_of_policy(left, policy, index_by(policy.x)) for policy in summary.terms.policies], of_buyer)


def _counted_sales(
    summary: RelationSummary, sales: SparseSales, read: Read
) -> tuple[CountedSales, dict[str, CountedSales]]:
    """All purchases together, and each buyer's, from the rows of which something was sold to anybody."""
    together, found = CountedSales(), {buyer: CountedSales() for buyer in sales.buyers()}
    protected = summary.terms.protected
    every = sales.everything().rows()
    for start in range(0, len(every), AT_A_TIME):
        rows = every[start : start + AT_A_TIME]
        subset = RowSubset(summary, rows, read(rows, protected), protected)
        _count(summary, subset, sales.everything(), together)
        for buyer, sold in sales.buyers().items():
            _count(summary, subset, sold, found[buyer])
    return together, found


def _count(summary: RelationSummary, subset: RowSubset, sold: SoldCells, found: CountedSales) -> None:
    known, weighing = subset.known(sold.depths(summary.terms.protected, subset.rows)), summary.weighing
    for attribute, cells in subset.support.cells.items():
        gone = cells.divergence > known.level(attribute, cells.rows)
        found.ruled_out += int(gone.sum())
        found.due += int(weighing.of(subset.numbers(attribute)[gone]).sum())
    found.ruled_out += int(known.ruled_out.sum())
    found.due += int(weighing.of(subset.edit_numbers[known.ruled_out]).sum())


@dataclass
class _Remaining:
    """What purchases have left: which, and exactly how many neighbours."""

    sales: SparseSales
    together: int
    of_buyer: Mapping[str, int]
    summary: RelationSummary

    def values(self, subset: RowSubset, linked: Sequence[LinkedValues]) -> tuple[Ints, Ints]:
        """How many values each group shows: as it is judged (D8), and with all purchases pooled."""
        pooled = self._shown(subset, linked, self.sales.everything(), self.together)
        if self.summary.terms.history is HistoryScope.POOLED:
            return pooled, pooled
        least = self._shown(subset, linked, SoldCells(self.summary), self.summary.neighbours)
        for buyer, sold in self.sales.buyers().items():
            least = np.minimum(least, self._shown(subset, linked, sold, self.of_buyer[buyer]))
        return least, pooled

    def _shown(self, subset: RowSubset, linked: Sequence[LinkedValues], sold: SoldCells, alive: int) -> Ints:
        depths = sold.depths(subset.heights, subset.rows)
        in_all = RelationCounts(alive, self.summary.most_droppers, False)
        return subset.surviving(depths, linked, in_all).margins[0].values(alive)


def _of_policy(left: _Remaining, policy: Policy, index: Index) -> CountedGroups:
    found = CountedGroups(
        GroupsBehind(lambda: (judged for judged, _ in _judged(left, policy, index))),
        unlinked_rows=left.summary.rows - len(index),
    )
    for judged, pooled in _judged(left, policy, index):
        found.groups += len(pooled)
        found.margins.update(judged.margin.tolist())
        found.short_together += int((pooled < policy.k).sum())
    return found


def _judged(left: _Remaining, policy: Policy, index: Index) -> Iterator[tuple[JudgedGroups, Ints]]:
    """All X-groups, batch by batch: their margins, and how many values each shows with all purchases pooled."""
    summary = left.summary
    _, attributes = summary.bearing_on(policy.y[0])
    needed = list(dict.fromkeys([*policy.x, *attributes]))
    for batch in index.batches(AT_A_TIME, MOST_OF_A_GROUP):
        if len(batch):
            subset = RowSubset(summary, batch.column("row").to_numpy(), batch.select(needed), attributes)
            linked = subset.linked([policy])
            values, pooled = left.values(subset, linked)
            x = [subset.columns[a].coded() for a in policy.x]
            yield JudgedGroups(linked[0].group, values - policy.k, x), pooled
