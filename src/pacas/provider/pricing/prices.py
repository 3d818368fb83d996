"""What a request costs: the weight of the neighbours that its answer rules out.

Paper: Alg. 1. p = Σ w(T) over the neighbours T with G(T) ≠ G(R). For cell neighbours nothing is evaluated: a request
for row r at level l rules out the neighbours of that cell whose divergence exceeds l, and a table holds their weight
for each row and level. What a buyer has bought of a cell before is one level, the lowest; the price no longer counts
what that has ruled out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pacas.engine.grouping import Ints
from pacas.protocol.messages import PriceBounds
from pacas.provider.pricing.conflicts import ConflictSets
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.support.cell_neighbours import CellNeighbours, candidates_of
from pacas.provider.support.support_set import ONLY_UPDATES, Generated
from pacas.provider.terms import Terms

AT_A_TIME = 1 << 15
"""Rows whose neighbours are weighed together: few enough that the arrays on the way stay small."""


@dataclass(frozen=True, eq=False, repr=False)
class CellPrices:
    """The prices of one attribute's cells: `weight[r, l]` is what neighbours of row r with divergence > l weigh."""

    weight: Ints

    @classmethod
    def of(cls, neighbours: CellNeighbours, weights: Ints, height: int) -> CellPrices:
        """From the weight of each neighbour, in nanocredits."""
        rows = len(neighbours.first) - 1
        weight = np.empty((rows, height + 1), dtype=np.int64)
        for begin in range(0, rows, AT_A_TIME):
            offsets = neighbours.first[begin : begin + AT_A_TIME + 1]
            part = slice(offsets[0], offsets[-1])
            first, end = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
            running = np.append(0, np.cumsum(weights[part]))
            for level in range(height + 1):  # of a row's neighbours, by divergence, the first so many are spared
                spared = np.append(0, np.cumsum(neighbours.divergence[part] <= level))
                weight[begin : begin + len(first), level] = running[end] - running[first + spared[end] - spared[first]]
        return cls(weight)


class Prices:
    """What requests cost, from the tables of all attributes and the weight of each edit."""

    def __init__(self, cells: Mapping[str, CellPrices], edits: Ints) -> None:
        self._cells, self._edits = cells, edits

    def ladders(self, sets: ConflictSets, known: Knowledge, height: int) -> Ints:
        """Each request's price at all levels, for a buyer who knows what is `known`."""
        prices = np.zeros((len(sets), height + 1), dtype=np.int64)
        if sets.attribute in self._cells:
            weight = self._cells[sets.attribute].weight
            bought = weight[sets.rows, known.level(sets.attribute, sets.rows)]
            cells = np.maximum(weight[sets.rows] - bought[:, None], 0)  # it falls with the level
            prices += _sum_by_request(cells, sets.offsets)
        alive = ~known.ruled_out[sets.edit]
        request, divergence = sets.edit_request[alive], sets.edit_divergence[alive]
        weights = self._edits[sets.edit[alive]]
        for level in range(height + 1):
            told = divergence > level
            np.add.at(prices[:, level], request[told], weights[told])
        return prices

    def of_cell(self, attribute: str, row: int, level: int, known: Knowledge, height: int) -> int:
        """The price of one cell that no edit has to do with; this is the short way."""
        if attribute not in self._cells:
            return 0
        weight = self._cells[attribute].weight
        bought = height - int(known.revealed[attribute][row])
        return 0 if level >= bought else int(weight[row, level]) - int(weight[row, bought])


def _sum_by_request(values: Ints, offsets: Ints) -> Ints:
    """The sum of each request's rows, which may be none."""
    if len(values) == len(offsets) - 1 and (offsets[1:] > offsets[:-1]).all():
        return values
    running = np.concatenate([np.zeros((1, values.shape[1]), dtype=np.int64), np.cumsum(values, axis=0)])
    total: Ints = running[offsets[1:]] - running[offsets[:-1]]
    return total


def price_bounds(terms: Terms, attribute: str, weights: Ints) -> tuple[PriceBounds, ...] | None:
    """At each level the lowest and the highest price for who has bought nothing; None where the data decides them.

    It is as much as a catalogue may tell of the paper's prices, which follow the value: it follows from the tree, from
    how many neighbours a cell has, and from what one of them weighs, which any quote at level 0 tells. Nothing is said
    of where rows stand.

    `weights` are the attribute's neighbours', of which only the lowest and the highest count. A row that a policy needs
    more neighbours of (D7) costs more, and several rows together the sum.
    """
    support, tree = terms.support, terms.hierarchies.get(attribute)
    if not isinstance(support, Generated) or support.size is not None or support.mix != ONLY_UPDATES:
        return None
    if tree is None or terms.points or attribute not in terms.simple or not len(weights):
        return None
    candidates, ground = candidates_of(tree), np.flatnonzero(tree.is_ground)
    wanted = np.where(candidates.levels[ground] > 0, np.int32(support.per_cell), np.int32(0))
    shares = np.array([candidates.share(ground, wanted, below) for below in range(1, tree.height + 1)])
    told_apart = [shares[level:].sum(axis=0) for level in range(tree.height)]
    lightest, heaviest = int(weights.min()), int(weights.max())
    below = [PriceBounds(int(n.min()) * lightest, int(n.max()) * heaviest) for n in told_apart]
    return (*below, PriceBounds(0, 0))
