"""What a request costs: the weight of the neighbours that its answer rules out.

Paper: Alg. 1. p = Σ w(T) over the neighbours T with G(T) ≠ G(R). For cell neighbours nothing is evaluated: a request
for row r at level l rules out the neighbours of that cell whose divergence exceeds l, and a table holds their weight
for each row and level. What a buyer has bought of a cell before is one level, the lowest; the price no longer counts
what that has ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacas.provider.support_set import CellNeighbours

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CellPrices:
    """The prices of one attribute's cells: `weight[r, l]` is what neighbours of row r with divergence > l weigh."""

    weight: Ints

    @classmethod
    def of(cls, neighbours: CellNeighbours, weights: Ints, height: int) -> CellPrices:
        """From the weight of each neighbour, in nanocredits."""
        running = np.concatenate([[0], np.cumsum(weights)])
        first, end = neighbours.first[:-1], neighbours.first[1:]
        within = np.zeros((height + 1, len(first)), dtype=np.int64)
        rows = neighbours.rows
        for level in range(height + 1):  # of each row's neighbours, sorted by divergence, the first so many are spared
            within[level] = np.bincount(rows[neighbours.divergence <= level], minlength=len(first))
        weight = running[end] - running[first + within]
        return cls(np.ascontiguousarray(weight.T))

    def price(self, rows: Ints, level: int, bought: NDArray[np.int8]) -> int:
        """What rows at a level cost a buyer who has bought them at the levels `bought` (the height: not at all)."""
        ruled_out = self.weight[rows, level] - self.weight[rows, np.maximum(bought, level)]
        return int(ruled_out.sum())


def uniform_weights(total: int, count: int) -> Ints:
    """`total` nanocredits over `count` neighbours, as equal as whole numbers allow, summing to it exactly."""
    base, rest = divmod(total, max(count, 1))
    weights = np.full(count, base, dtype=np.int64)
    weights[:rest] += 1
    return weights
