"""What an audit counts of a relation that stays on the engine: batch by batch, every X-group and every cell sold.

An X-group of very many rows is judged by its first ones, as requests are; it shows at least what these show.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacas.core.anonymity import Policy
from pacas.provider.cover_pass import AT_A_TIME, MOST_OF_A_GROUP
from pacas.provider.on_engine import OnEngine
from pacas.provider.part import Part
from pacas.provider.sold import Sold, SparseSales
from pacas.provider.terms import History

Ints = NDArray[np.int64]


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


def counted_sales(shop: OnEngine, sales: SparseSales) -> dict[str, CountedSales]:
    """Per buyer, from the rows of which something was sold to anybody."""
    found = {buyer: CountedSales() for buyer in sales.buyers()}
    protected = shop.terms.protected
    every = sales.everything().rows()
    for start in range(0, len(every), AT_A_TIME):
        rows = every[start : start + AT_A_TIME]
        part = Part(shop.whole, rows, shop.engine.rows(shop.table, rows, list(protected)), protected)
        for buyer, sold in sales.buyers().items():
            _count(shop, part, sold, found[buyer])
    return found


def _count(shop: OnEngine, part: Part, sold: Sold, found: CountedSales) -> None:
    known, weighing = part.known(sold.depths(shop.terms.protected, part.rows)), shop.whole.weighing
    for attribute, cells in part.support.cells.items():
        gone = cells.divergence > known.level(attribute, cells.rows)
        found.ruled_out += int(gone.sum())
        found.due += int(weighing.of(part.numbers(attribute)[gone]).sum())
    found.ruled_out += int(known.ruled_out.sum())
    found.due += int(weighing.of(part.edit_numbers[known.ruled_out]).sum())


def counted_groups(shop: OnEngine, sales: SparseSales) -> list[CountedGroups]:
    """Per policy, with what all buyers' purchases have left or, if so agreed, those of whoever has left least."""
    return [_of_policy(shop, sales, policy) for policy in shop.terms.policies]


def _of_policy(shop: OnEngine, sales: SparseSales, policy: Policy) -> CountedGroups:
    index = shop.index_by(policy.x)
    found = CountedGroups(unlinked_rows=shop.rows - len(index))
    _, attributes = shop.whole.bearing_on(policy.y[0])
    needed = list(dict.fromkeys([*policy.x, *attributes]))
    for batch in index.batches(AT_A_TIME, MOST_OF_A_GROUP):
        if not len(batch):
            continue
        part = Part(shop.whole, batch.column("row").to_numpy(), batch.select(needed), attributes)
        values, pooled = _values(shop, sales, part, policy)
        found.groups += len(values)
        found.margins.update((values - policy.k).tolist())
        found.short_together += int((pooled < policy.k).sum())
    return found


def _values(shop: OnEngine, sales: SparseSales, part: Part, policy: Policy) -> tuple[Ints, Ints]:
    """How many values each group shows: as it is judged, and with all purchases pooled."""
    linked = part.linked([policy])

    def shown(sold: Sold) -> Ints:
        state = part.surviving(sold.depths(part.heights, part.rows), linked, sold.beyond())
        return state.margins[0].values(state.alive)

    pooled = shown(sales.everything())
    if shop.terms.history is History.POOLED:
        return pooled, pooled
    own = [shown(sold) for sold in sales.buyers().values() if len(np.intersect1d(sold.rows(), part.rows))]
    untouched = Sold(shop.whole)
    return np.min([shown(untouched), *own], axis=0), pooled
