"""How far some columns tell another: whose value is the one that most others with the same left side have.

A person is guessed from the others alone, so that a left side that is nearly a key tells nothing, and small groups
tell no more than chance does. What is guessed right is compared with guessing the most frequent value for everybody.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import Keys, count_pairs

LEAST_OF_ALL = 0.1
"""The share of rows that must have somebody to be guessed from."""
BY_CHANCE = 0.01
"""How likely it may be, at most, that any of the left sides that are tried has so many agree by chance."""
ERROR_LEFT = 0.5
"""How much may be left of the error of the next best guess."""


class Determination(NamedTuple):
    """What a left side tells of a right side."""

    rows: int
    """Those that share their left side with another row, and so can be guessed."""
    groups: int
    """How many left sides these have."""
    guessed: int
    """Those that are guessed right."""
    usual: int
    """Those that have the value that is most frequent among them."""

    @property
    def is_exact(self) -> bool:
        """No two rows with the same left side have different values."""
        return self.guessed == self.rows

    @property
    def share(self) -> float:
        """How many are guessed right."""
        return self.guessed / self.rows if self.rows else 0.0

    def tells(self, share: float, rows: int, tried: int = 1) -> bool:
        """Is it more than a share, of enough of the rows, and more than frequent values and chance explain?

        So many left sides are `tried`, and among many one does well by chance sooner.
        """
        if not self.rows or self.usual == self.rows or self.rows < LEAST_OF_ALL * rows:
            return False
        usual = self.usual / self.rows
        is_chance = usual ** (self.rows - self.groups) > BY_CHANCE / tried
        return not is_chance and self.share >= share and 1 - self.share <= ERROR_LEFT * (1 - usual)


def determination(left: Keys, right: Keys) -> Determination:
    """What a left side tells of a right side, row by row; rows without a key on either side are left out.

    Two share `a` and their value, two share `b` and do not, and one is alone.

    >>> left = Keys(np.array([0, 0, 1, 1, 2]), 3, False)
    >>> determination(left, Keys(np.array([5, 5, 5, 6, 6]), 7, False))
    Determination(rows=4, groups=2, guessed=2, usual=3)
    """
    keys, values = left.key, right.key
    if left.partial or right.partial:
        there = np.flatnonzero((keys >= 0) & (values >= 0))
        keys, values = keys[there], values[there]
    group, value, n = count_pairs(keys, values, right.space)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    if not len(starts):
        return Determination(0, 0, 0, 0)
    lengths = np.diff(np.append(starts, len(group)))
    size, most = np.add.reduceat(n, starts), np.maximum.reduceat(n, starts)
    is_most = n == np.repeat(most, lengths)
    several = np.add.reduceat(is_most.astype(np.int64), starts) > 1
    second = np.where(several, most, np.maximum.reduceat(np.where(is_most, 0, n), starts))
    shared = size > 1
    right_of = np.where(shared & (most - 1 > second), most, 0)
    usual = np.bincount(value, weights=np.where(np.repeat(shared, lengths), n, 0)).max()
    return Determination(int(size[shared].sum()), int(shared.sum()), int(right_of.sum()), int(usual))
