"""What a group's value is likely to be, by how the values of other groups are spread.

Groups count, not rows, and none counts for itself. Where a part of the left side tells the value (a diagnosis code the
diagnosis, whatever the gender is), only groups that share that part count, as far as there are any.
"""

from __future__ import annotations

import numpy as np

from pacas.client.weighing.left_side import LeftSide
from pacas.client.weighing.tuple_index import TupleIndex
from pacas.client.weighing.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.histogram import Ints

BETTER = 0.1
"""By so much, in nats a row, a part of the left side must tell more than nothing does."""

LOOKED_AT = 20_000
"""Groups by which the part is chosen."""


class GroupPrior:
    """The prior of a dependency's groups."""

    def __init__(self, side: LeftSide, column: WeighedColumn, likeliest: Ints) -> None:
        """`likeliest` is each group's most frequent known value, −1 where it has none."""
        self._column, self._own = column, likeliest
        told = np.flatnonzero(likeliest >= 0)
        self._count = np.bincount(likeliest[told], minlength=len(column)).astype(np.float64)
        self._total = float(len(told))
        occurs = column.known & (column.frequency > 0)
        self._floor = np.where(occurs, 0.5, 0.5 / max(int(column.known.sum()), 1))
        self._smoothed = self._total + 0.5 * float(occurs.sum()) + 0.5
        self.part = self._best_part(side, told)
        """The attributes that tell the value, if any do."""
        if self.part:
            self._part = _part_counts(side, self.part, told, likeliest, len(column))

    def _best_part(self, side: LeftSide, told: Ints) -> tuple[str, ...]:
        if len(side.attributes) < 2 or not len(told):
            return ()
        some = told[:: -(-len(told) // LOOKED_AT)]
        weight = side.size[some] / side.size[some].sum()
        values = self._own[some]
        share = np.maximum(self._column.share[values], 1e-9)
        best: tuple[str, ...] = ()
        most = float(weight @ np.log(share)) + BETTER
        for part in _parts(side.attributes):
            of, pairs, number, total = _part_counts(side, part, some, self._own, len(self._column))
            here = of[some]
            found = np.searchsorted(pairs, here * len(self._column) + values)
            score = float(weight @ np.log((number[found] - 1 + share) / total[here]))
            if score > most:
                best, most = part, score
        return best

    def __call__(self, group: Ints, value: Ints) -> Floats:
        """The chance of values in groups; of none (−1) it is 0, and of one that cannot be the truth next to it."""
        code = np.maximum(value, 0)
        own = self._own[group] == code
        chance = (np.maximum(self._count[code] - own, 0) + self._floor[code]) / self._smoothed
        if self.part:
            of, pairs, number, total = self._part
            here = of[group]
            wanted = here * len(self._column) + code
            at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
            seen = np.where(pairs[at] == wanted, number[at], 0) - own
            others = np.maximum(total[here] - (self._own[group] >= 0), 0)
            chance = (np.maximum(seen, 0) + chance) / (others + 1)
        likely = np.where(self._column.known[code], 1.0, 1e-6)
        return np.where(value >= 0, np.maximum(chance, 1e-9) * likely, 0.0)


def _parts(attributes: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Single attributes, and all but one."""
    alone: list[tuple[str, ...]] = [(a,) for a in attributes]
    rest = [tuple(b for b in attributes if b != a) for a in attributes]
    return alone if len(attributes) == 2 else alone + rest


def _part_counts(
    side: LeftSide, part: tuple[str, ...], told: Ints, own: Ints, values: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Per group its part's number; the (part, value) pairs of the told groups with their counts; and counts a part."""
    columns = [side.values[a] for a in part]
    of = TupleIndex(columns, [int(c.max(initial=0)) + 1 for c in columns]).number
    pairs, number = np.unique(of[told] * values + own[told], return_counts=True)
    total = np.bincount(of[told], minlength=int(of.max(initial=0)) + 1)
    return of, pairs, number, total
