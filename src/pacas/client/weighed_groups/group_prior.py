"""What a group's value is likely to be, by how the values of other groups are spread.

Groups count, not rows, and none counts for itself. How much it says that another group has a value depends on how often
groups share their values at all: restaurants hardly ever share an address, so that one which is another's is unlikely
here. That is learnt by absolute discounting, as language models do: from each value's count a part of one group is
taken, the greater the more values occur once only, and is kept for values that no other group has. Where a part of the
left side tells the value (a diagnosis code the diagnosis, whatever the gender is), only groups that share that part
count, as far as there are any.
"""

from __future__ import annotations

import numpy as np

from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_groups.tuple_index import TupleIndex
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

BETTER = 0.1
"""By so much, in nats a row, a part of the left side must tell more than nothing does."""

LOOKED_AT = 20_000
"""Groups by which the part is chosen."""


class GroupPrior:
    """The prior of a dependency's groups."""

    def __init__(self, side: LeftSide, column: WeighedColumn, told: Ints, uncovered: float) -> None:
        """`told` is each group's most frequent known value, −1 where it has none.

        `uncovered` is how likely the truth of a group is a value that the hierarchy does not have.
        """
        self._side, self._column = side, column
        self._strange = np.maximum(uncovered * column.strange, 1e-15)
        self._occurs = column.known & (column.frequency > 0)
        self._absent = max(int((column.known & ~self._occurs).sum()), 1)
        self.told = told
        """Per group: the value that it is taken to have."""
        self.part = self._best_part(np.flatnonzero(told >= 0))
        """The attributes that tell the value, if any do."""
        self._part = _part_numbers(side, self.part) if self.part else None
        self._count_groups()

    def take(self, told: Ints) -> bool:
        """Take groups to have other values from now on, and say whether some are others. The part stays."""
        if np.array_equal(told, self.told):
            return False
        self.told = told
        self._count_groups()
        return True

    def _count_groups(self) -> None:
        told = np.flatnonzero(self.told >= 0)
        self._total = float(len(told))
        self._count = np.bincount(self.told[told], minlength=len(self._column)).astype(np.float64)
        self._discount = discount(self._count)
        held = self._count > 0
        self._distinct, self._free = float(held.sum()), float((self._occurs & ~held).sum())
        if self._part is not None:
            self._pairs, self._number, self._others = _part_counts(self._part, told, self.told, len(self._column))
            self._part_discount = discount(self._number.astype(np.float64))
            self._different = np.bincount(self._pairs // len(self._column), minlength=len(self._others))

    def _best_part(self, told: Ints) -> tuple[str, ...]:
        side = self._side
        if len(side.attributes) < 2 or not len(told):
            return ()
        some = told[:: -(-len(told) // LOOKED_AT)]
        weight = side.size[some] / side.size[some].sum()
        values = self.told[some]
        share = np.maximum(self._column.share[values], 1e-9)
        best: tuple[str, ...] = ()
        most = float(weight @ np.log(share)) + BETTER
        for part in _parts(side.attributes):
            of = _part_numbers(side, part)
            pairs, number, total = _part_counts(of, some, self.told, len(self._column))
            here = of[some]
            found = np.searchsorted(pairs, here * len(self._column) + values)
            score = float(weight @ np.log((number[found] - 1 + share) / total[here]))
            if score > most:
                best, most = part, score
        return best

    def __call__(self, group: Ints, value: Ints) -> Floats:
        """The chance of values in groups; of none (−1) it is 0, and of one that cannot be the truth next to it."""
        code = np.maximum(value, 0)
        own = self.told[group] == code
        chance = self._by_groups(group, code, own)
        if self._part is not None:
            here = self._part[group]
            wanted = here * len(self._column) + code
            at = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
            seen = np.where(self._pairs[at] == wanted, self._number[at], 0) - own
            told = self.told[group] >= 0
            others = np.maximum(self._others[here] - told, 0)
            mine = np.searchsorted(self._pairs, here * len(self._column) + np.maximum(self.told[group], 0))
            alone = told & (self._number[np.minimum(mine, len(self._number) - 1)] == 1)
            taken = self._part_discount * (self._different[here] - alone) * chance
            near = np.maximum(seen - self._part_discount, 0) + taken
            chance = np.where(others > 0, near / np.maximum(others, 1), chance)
        likely = np.where(self._column.known[code], np.maximum(chance, 1e-9), self._strange[code])
        return np.where(value >= 0, likely, 0.0)

    def by_groups(self, group: Ints, value: Ints) -> Floats:
        """The chance of known values in groups, whatever a part of the left side tells."""
        return self._by_groups(group, value, self.told[group] == value)

    def _by_groups(self, group: Ints, code: Ints, own: Mask) -> Floats:
        """The chance of values by what other groups have: theirs, discounted, or one that none of them has.

        Values that none of them has are all as likely, if they occur; so are, together, all that do not.
        """
        mine = np.maximum(self.told[group], 0)
        told = self.told[group] >= 0
        alone = told & (self._count[mine] == 1)  # what no other group has
        others = self._total - told
        new = self._discount * (self._distinct - alone) / np.maximum(others, 1)
        new = np.where(others > 0, new, 1.0) / (self._free + (alone & self._occurs[mine]) + 1)
        new = np.where(self._occurs[code], new, new / self._absent)
        count = self._count[code] - own
        return np.asarray(np.where(count > 0, (count - self._discount) / np.maximum(others, 1), new))


def discount(count: Floats) -> float:
    """What is taken from each value's count: the more of them occur once, and not twice, the more; half to begin with.

    >>> discount(np.array([1.0, 1.0, 1.0, 1.0, 2.0, 7.0])), discount(np.array([4.0]))
    (0.625, 0.5)
    """
    once, twice = float((count == 1).sum()), float((count == 2).sum())
    return (once + 1) / (once + 2 * twice + 2)


def _parts(attributes: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Single attributes, and all but one."""
    alone: list[tuple[str, ...]] = [(a,) for a in attributes]
    rest = [tuple(b for b in attributes if b != a) for a in attributes]
    return alone if len(attributes) == 2 else alone + rest


def _part_numbers(side: LeftSide, part: tuple[str, ...]) -> Ints:
    """Per group: the number of what it has in a part of the left side."""
    columns = [side.values[a] for a in part]
    return TupleIndex(columns, [int(c.max(initial=0)) + 1 for c in columns]).number


def _part_counts(of: Ints, told: Ints, value: Ints, values: int) -> tuple[Ints, Ints, Ints]:
    """The (part, value) pairs of the told groups, how often each occurs, and each part."""
    pairs, number = np.unique(of[told] * values + value[told], return_counts=True)
    return pairs, number, np.bincount(of[told], minlength=int(of.max(initial=0)) + 1)
