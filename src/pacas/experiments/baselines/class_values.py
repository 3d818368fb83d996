"""The values that the cells of classes hold, counted: all that a rule needs to choose one value per class.

Rules look at distinct values and their weights, never at pairs of cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacas.core.histogram import Ints, sum_by
from pacas.experiments.baselines.edit_costs import EditCosts

PAIRS = 1 << 21
"""How many pairs of values are looked at together."""


@dataclass(frozen=True, eq=False)
class ClassValues:
    """Entry i: in class `group[i]`, cells of this weight hold the value `code`; `first` is the lowest row that does.

    Entries are sorted by class; classes are numbered from 0, and each has an entry.
    """

    group: Ints
    code: Ints
    weight: Ints
    first: Ints

    @classmethod
    def of(cls, group: Ints, code: Ints, row: Ints, weight: Ints) -> ClassValues:
        """From cells, one class after the other and each class's in order of their rows."""
        width = int(code.max(initial=0)) + 1
        keys, at, entry = np.unique(group * width + code, return_index=True, return_inverse=True)
        return cls(keys // width, keys % width, sum_by(entry, weight, len(keys)), row[at])

    def only(self, codes: NDArray[np.bool_]) -> ClassValues:
        """Without the values that are not marked in `codes`."""
        kept = codes[self.code]
        return ClassValues(self.group[kept], self.code[kept], self.weight[kept], self.first[kept])

    def heaviest(self) -> Ints:
        """Per class: the entry of most weight, of several the one that stands first."""
        return self._first_by(-self.weight)

    def cheapest(self, costs: EditCosts, candidates: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Per class: the value that is written over all of it at the least cost, and this cost.

        Only codes that are marked in `candidates` are chosen, and each class must have one; of several at the same
        cost, the one that stands first.
        """
        cost = np.where(candidates[self.code], self._costs(costs), np.iinfo(np.int64).max)
        chosen = self._first_by(cost)
        return self.code[chosen], cost[chosen]

    def _first_by(self, rank: Ints) -> Ints:
        """Per class: the entry of the lowest rank, then of the lowest first row."""
        order = np.lexsort((self.first, rank, self.group))
        return order[np.flatnonzero(np.diff(self.group, prepend=-1))]

    def _costs(self, costs: EditCosts) -> Ints:
        """Per entry: what it costs to write its value over its class."""
        sizes = np.bincount(self.group)
        starts = np.cumsum(sizes) - sizes
        others = sizes[self.group]
        total = np.empty(len(self.group), dtype=np.int64)
        for begin, end in _blocks(others):
            n = others[begin:end]
            edge = np.cumsum(n) - n
            mine = np.repeat(np.arange(begin, end), n)
            other = np.arange(len(mine)) - np.repeat(edge - starts[self.group[begin:end]], n)
            total[begin:end] = np.add.reduceat(
                costs.between(self.code[mine], self.code[other]) * self.weight[other], edge
            )
        return total


def _blocks(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Runs of entries that have about PAIRS pairs together, at least one entry each."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        reached = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, reached + PAIRS, side="right")))
        yield begin, end
        begin = end
