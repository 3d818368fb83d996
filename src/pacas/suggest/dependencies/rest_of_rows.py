"""What the rest of its row says of a value: a row with an error looks like rows with another value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pacas.engine.grouping import Array, Ints, Mask
from pacas.suggest.dependencies.evidence import Floats

PRIOR = 2
"""Rows as which it counts how frequent a value is anyway, where it is asked how frequent it is beside another."""
COMPARED = 5
"""Rows that each is compared with, of either value."""
DEVIATIONS = 3
"""By how much these must differ for the rest of a row to tell anything."""


class RestOfRows:
    """Beside which of two values of a column what else stands in a row is likelier, by all rows but that one."""

    def __init__(self, others: Sequence[Array], right: Ints) -> None:
        self._right, self._values = right, int(right.max(initial=0)) + 1
        self._total = np.bincount(right)
        self._others = [codes.astype(np.int64) + 1 for codes in others]  # a null is like any value
        self._pairs = [np.unique(codes * self._values + right, return_counts=True) for codes in self._others]

    def share_right(
        self, rows: Ints, value: Ints, instead: Ints, regular: Ints, groups: Ints, group: Ints
    ) -> float | None:
        """The share of rows that have their value, and not another, by right; None where the rest of it does not tell.

        Those that are right look like other rows with their value, and errors like other rows of a `group`: by how
        often the rest of `regular` rows of either kind speaks for the value follows how many are which.
        """
        if not len(rows):
            return None
        values, others = np.tile(value, COMPARED), np.tile(instead, COMPARED)
        of_value = _others_of(self._right, regular, values)
        of_group = _others_of(groups, regular, np.tile(group, COMPARED))
        spoken = float(self._speak(rows, value, instead).mean())
        right, wrong = (float(self._speak(one, values, others).mean()) for one in (of_value, of_group))
        deviation = np.sqrt((right * (1 - right) + wrong * (1 - wrong)) / len(rows))
        if right - wrong <= DEVIATIONS * deviation:
            return None
        return min(max((spoken - wrong) / (right - wrong), 0.0), 1.0)

    def _speak(self, rows: Ints, value: Ints, instead: Ints) -> Mask:
        """Whether the rest of each row speaks for a value, rather than for another."""
        likelier = np.zeros(len(rows))
        for codes, pairs in zip(self._others, self._pairs, strict=True):
            here = codes[rows]
            seen = np.bincount(codes)[here] - 1
            told = np.flatnonzero(seen)  # what stands in no other row tells nothing
            one, other = (self._share(pairs, rows, here, seen, each)[told] for each in (value, instead))
            likelier[told] += np.log(one / other)
        return likelier > 0

    def _share(self, pairs: tuple[Ints, Ints], rows: Ints, here: Ints, seen: Ints, value: Ints) -> Floats:
        """Of the rows with a value, those that have here what a row has."""
        keys, count = pairs
        asked, own = here * self._values + value, self._right[rows] == value
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        found = np.where(keys[place] == asked, count[place], 0) - own
        share: Floats = (found + PRIOR * seen / len(self._right)) / (self._total[value] - own + PRIOR)
        return share


def _others_of(groups: Ints, among: Ints, asked: Ints) -> Ints:
    """A row of each group that is asked for, one after the other where it is asked for again."""
    order = among[np.argsort(groups[among], kind="stable")]
    start, end = (np.searchsorted(groups[order], asked, side) for side in ("left", "right"))
    place = np.argsort(np.argsort(asked, kind="stable"), kind="stable")
    first = np.searchsorted(np.sort(asked), asked)
    return order[start + (place - first) % (end - start)]
