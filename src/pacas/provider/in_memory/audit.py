"""What an audit counts of a relation in memory: every X-group, and every neighbour that purchases have ruled out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pacas.engine.grouping import Ints, spread
from pacas.provider.in_memory.sales import Learned, learned_by_buyer
from pacas.provider.in_memory.stock import Stock
from pacas.provider.ledger.entry import Purchase
from pacas.provider.safety.margins import Margins
from pacas.provider.safety.surviving import Surviving
from pacas.provider.shop.contract import CountedGroups, CountedSales, CountedShop
from pacas.provider.shop.x_groups import GroupsBehind, JudgedGroups
from pacas.provider.terms import HistoryScope


def count_sales(stock: Stock, purchases: Sequence[Purchase]) -> CountedShop:
    """What follows from purchases: per policy, over all X-groups, and per buyer."""
    state = stock.untouched.copy()
    sales = {}
    for buyer, learned in learned_by_buyer(purchases, stock.inquiries):
        state.learn(learned)
        sales[buyer] = _ruled_out(stock, learned)
    state.recount()
    values = _values(stock, state, purchases)
    groups = [_groups(stock, margins, shown, state) for margins, shown in zip(state.margins, values, strict=True)]
    return CountedShop(groups, sales)


def _ruled_out(stock: Stock, learned: Learned) -> CountedSales:
    """What purchases have ruled out, cell by cell and edit by edit, and what that weighs."""
    found = CountedSales()
    edits: list[Ints] = []
    for sets, levels in learned:
        rows, lowest = sets.lowest(levels)
        cells = stock.support.cells.get(sets.attribute)
        if cells is not None:
            number = spread(cells.first[rows], cells.first[rows + 1] - cells.first[rows])
            gone = cells.divergence[number] > np.repeat(lowest, cells.first[rows + 1] - cells.first[rows])
            found.ruled_out += int(gone.sum())
            found.due += sum(stock.weights[stock.support.first()[sets.attribute] + number[gone]].tolist())
        edits.append(sets.edit[sets.edit_divergence > levels[sets.edit_request]])
    gone_edits = np.unique(np.concatenate(edits))
    found.ruled_out += len(gone_edits)
    found.due += sum(stock.weights[stock.support.first()[None] + gone_edits].tolist())
    return found


def _groups(stock: Stock, margins: Margins, values: Ints, pooled: Surviving) -> CountedGroups:
    linked, above = margins.linked, values - margins.k
    margin, groups = np.unique(above, return_counts=True)
    judged = JudgedGroups(linked.group, above, [stock.columns[a].coded() for a in linked.policy.x])
    return CountedGroups(
        GroupsBehind(lambda: iter([judged])),
        linked.groups,
        int((linked.group < 0).sum()),
        Counter(dict(zip(margin.tolist(), groups.tolist(), strict=True))),
        int((margins.lacking(pooled.alive) > 0).sum()),
    )


def _values(stock: Stock, pooled: Surviving, purchases: Sequence[Purchase]) -> list[Ints]:
    """Per policy how many values each group shows: with what all have bought or, if so agreed, each buyer alone."""
    if stock.terms.history is HistoryScope.POOLED:
        return [margins.values(pooled.alive) for margins in pooled.margins]
    least = [margins.values(stock.untouched.alive) for margins in stock.untouched.margins]
    for _, learned in learned_by_buyer(purchases, stock.inquiries):
        own = stock.untouched.copy()
        own.learn(learned)
        own.recount()
        least = [np.minimum(a, m.values(own.alive)) for a, m in zip(least, own.margins, strict=True)]
    return least
