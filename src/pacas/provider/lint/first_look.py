"""Which columns many left sides cannot tell, by a tenth of the rows, before each is looked at by itself.

Rows of the sample that stand beside each other, once they are sorted by their left side, agree where it tells. How many
of them may disagree, and it still tells in all rows, is bounded by the worst case: whoever is guessed wrong is in large
groups, whose rows the sample holds beside each other, and whoever is guessed right is in groups of two, of which it
holds both rows more rarely. What disagrees more often than that is ruled out; all else is looked at as before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pacas.engine.grouping import Array, Ints, Keys, Mask

SEED = 2
FEWEST_ROWS, ONE_IN = 1_500, 10
"""Rows of the sample: one in so many, and never fewer than that."""
COMPARED = 100
"""Neighbours that are compared for each left side, at most."""
DEVIATIONS = 3.0
"""By how many standard deviations more must disagree than may."""


class FirstLook:
    """A sample of the rows, and what stands there in the columns that may be told."""

    def __init__(self, rights: Sequence[Keys], rows: int, share: float) -> None:
        some = min(rows, max(FEWEST_ROWS, rows // ONE_IN))
        drawn = np.random.default_rng(SEED).choice(rows, some, replace=False)
        self._rows = drawn if some < rows else np.arange(rows)
        self._values = np.stack([right.key[self._rows] for right in rights], axis=1)
        self._has_nulls = any(right.partial for right in rights)
        wrong = min(2 * (1 - share), 1.0)  # who is guessed wrong disagrees with two neighbours at most
        self._may_disagree = wrong / (wrong + (1 - wrong) * some / rows / 2) if wrong else 0.0

    def sampled(self, keys: Keys) -> Keys:
        """The keys of the rows of the sample."""
        return Keys(keys.key[self._rows].astype(np.int64), keys.space, keys.partial)

    def may_tell(self, lefts: Sequence[Keys]) -> Mask:
        """Per left side, of the rows of the sample, and column: whether it is not ruled out."""
        return self._not_ruled_out(np.stack([left.key for left in lefts]))

    def may_tell_together(self, one: Keys, others: Sequence[Keys]) -> Mask:
        """The same of the left sides that a column is with each of some others."""
        keys = np.stack([other.key for other in others])
        is_null = (keys < 0) | (one.key < 0) if one.partial or any(other.partial for other in others) else None
        keys += one.key * np.array([[other.space] for other in others])
        if is_null is not None:
            keys[is_null] = -1
        return self._not_ruled_out(keys)

    def _not_ruled_out(self, keys: Array) -> Mask:
        rows, neighbours, pairs = _neighbours(keys)
        ours, theirs = self._values.take(rows, axis=0), self._values.take(neighbours, axis=0)
        differ, compared = ours != theirs, pairs[:, None]
        if self._has_nulls:
            both = (ours >= 0) & (theirs >= 0)
            differ &= both
            compared = _sums(both, pairs)
        expected = self._may_disagree * compared
        spread = DEVIATIONS * np.sqrt(expected * (1 - self._may_disagree))
        return np.asarray(_sums(differ, pairs) <= expected + spread)


def _neighbours(keys: Array) -> tuple[Array, Array, Ints]:
    """Places with the same key, a line of keys for each left side: some pairs of each, line after line, and how many.

    Lines are sorted by 16 bits of their keys, as that is fastest by far; keys that share them may part others.
    """
    lines, places = keys.shape
    order = np.argsort(keys.astype(np.uint16), axis=1, kind="stable")
    order += np.arange(0, lines * places, places)[:, None]
    order = order.reshape(-1)
    key = keys.reshape(-1)[order]
    same = (key[1:] == key[:-1]) & (key[1:] >= 0)
    same = np.append(same, False).reshape(lines, places)
    same[:, -1] = False  # beside the next line's first
    found, all_pairs = np.flatnonzero(same), np.count_nonzero(same, axis=1)
    pairs = np.minimum(all_pairs, COMPARED)
    rank = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    evenly = rank * np.repeat(all_pairs, pairs) // np.repeat(pairs, pairs)  # over all groups
    at = found[np.repeat(np.cumsum(all_pairs) - all_pairs, pairs) + evenly]
    return order[at] % places, order[at + 1] % places, pairs


def _sums(are: Mask, pairs: Ints) -> Ints:
    """How many of each line's pairs are true, column by column."""
    sums = np.zeros((len(pairs), are.shape[1]), dtype=np.int64)
    some = np.flatnonzero(pairs)
    if len(some):
        sums[some] = np.add.reduceat(are, (np.cumsum(pairs) - pairs)[some], axis=0, dtype=np.int64)
    return sums
