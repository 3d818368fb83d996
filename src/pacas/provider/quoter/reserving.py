"""Which rows stay unsold below the safe levels, so that every X-group keeps some that nobody knows more of.

Drawn in public, before anything is sold: what is refused tells nothing of values, nor of what others have bought.
"""

from __future__ import annotations

import heapq

import numpy as np

from pacas.engine.grouping import Ints, Mask
from pacas.engine.kept_rows import UnitPairs, cost_of_units
from pacas.provider.quoter.units import Draw


def reserved_units(group: Ints, unit: Ints, keep: int, draw: Draw, unsold: Mask) -> Mask:
    """Units, as few as a greedy choice finds, that hold `keep` rows of every X-group, or all where it has no more.

    Row i is in X-group `group[i]` (−1: in none) and is sold with the others of `unit[i]`. Of units that serve as well
    those are taken that buyers miss least (`cost_of_units`); among equal ones `draw` decides. Rows that no request can
    buy (`unsold`) keep their group's secret without being reserved.

    >>> two_groups, alone, lots = np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([7, 3, 5], dtype=np.uint64)
    >>> reserved_units(two_groups, alone, 1, lots.take, np.zeros(3, dtype=bool)).tolist()
    [False, True, True]
    """
    linked = group >= 0
    groups, units = int(group.max(initial=-1)) + 1, int(unit.max(initial=-1)) + 1
    need = np.minimum(keep, np.bincount(group[linked], minlength=groups))
    need = np.maximum(need - np.bincount(group[linked & unsold], minlength=groups), 0)
    for_sale = linked & ~unsold
    pair, count = np.unique(group[for_sale] * units + unit[for_sale], return_counts=True)
    of_group, of_unit = pair // units, pair % units
    cost = cost_of_units(np.bincount(unit, minlength=units))
    if (np.bincount(of_unit, minlength=units) <= 1).all() and (keep == 1 or (count == 1).all()):
        return _first_of_groups(of_group, of_unit, need, cost, draw)
    return _hitting(of_group, of_unit, count, need, cost, draw)


def chosen_units(pairs: UnitPairs) -> Ints:
    """The same by the pairs of groups and units alone, where the rows stay on the engine."""
    _, group = np.unique(pairs.group, return_inverse=True)
    units, unit = np.unique(pairs.unit, return_inverse=True)
    need, cost, lots = np.zeros(len(group), np.int64), np.zeros(len(units), np.int64), np.zeros(len(units), np.uint64)
    need[group], cost[unit], lots[unit] = pairs.need, pairs.cost, pairs.lot
    return units[_hitting(group, unit, pairs.rows, need, cost, lots.take)]


def _first_of_groups(of_group: Ints, of_unit: Ints, need: Ints, cost: Ints, draw: Draw) -> Mask:
    """Where no unit lies in two groups: of each group the units that cost least, by draw among equal ones."""
    drawn = np.zeros(len(of_unit), dtype=np.uint64)
    units = np.bincount(of_group, minlength=len(need))
    choice = np.flatnonzero(((need > 0) & (need < units))[of_group])  # where there is one
    drawn[choice] = draw(of_unit[choice])
    order = np.lexsort((drawn, cost[of_unit], of_group))
    place = np.arange(len(order)) - np.searchsorted(of_group[order], of_group[order])
    chosen = np.zeros(len(cost), dtype=np.bool_)
    chosen[of_unit[order[place < need[of_group[order]]]]] = True
    return chosen


def _hitting(of_group: Ints, of_unit: Ints, count: Ints, need: Ints, cost: Ints, draw: Draw) -> Mask:
    """A greedy hitting set, by what a unit adds to the groups that are short, for its cost; what is unneeded goes."""
    members: dict[int, list[tuple[int, int]]] = {}
    for group, unit, rows in zip(of_group.tolist(), of_unit.tolist(), count.tolist(), strict=True):
        members.setdefault(unit, []).append((group, rows))
    short: list[int] = need.tolist()
    costs: list[int] = cost.tolist()

    def gain(unit: int) -> float:
        added = sum(min(rows, short[group]) for group, rows in members[unit] if short[group] > 0)
        return added / costs[unit]

    chosen: list[int] = []
    candidates = np.unique(of_unit)
    draws: dict[int, int] = dict(zip(candidates.tolist(), draw(candidates).tolist(), strict=True))
    heap = [(-gain(unit), draws[unit], unit) for unit in members]
    heapq.heapify(heap)
    while heap and heap[0][0]:  # gains only fall: what is first with a gain that still holds is the best
        before, lot, unit = heapq.heappop(heap)
        now = gain(unit)
        if -now > before:
            heapq.heappush(heap, (-now, lot, unit))
            continue
        chosen.append(unit)
        for group, rows in members[unit]:
            short[group] -= rows
    kept = set(chosen)
    for unit in sorted(chosen, key=lambda u: (-costs[u], draws[u])):
        if all(short[group] + rows <= 0 for group, rows in members[unit]):
            kept.remove(unit)
            for group, rows in members[unit]:
                short[group] += rows
    mask = np.zeros(len(cost), dtype=np.bool_)
    mask[sorted(kept)] = True
    return mask
