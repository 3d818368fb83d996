"""The values that the cells of classes hold, counted, and what it costs to write one over another.

That is all that a rule needs to choose one value per class: it looks at distinct values and their weights, never at
pairs of cells. A cost is the normalised Damerau-Levenshtein distance, after Bohannon, Fan, Flaster and Rastogi, "A
Cost-Based Model and Effective Heuristic for Repairing Constraints by Value Modification" (SIGMOD 2005): the number of
edits over the longer length, in whole millionths, so that sums are exact in any order and ties are ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import ROOT
from pacas.core.histogram import Ints, sum_by

PAIRS = 1 << 21
"""How many pairs of values are looked at together."""


@dataclass(frozen=True, eq=False)
class ClassValues:
    """Entry i: in class `group[i]`, cells of this weight hold the value `code`; `first` is the lowest row that does.

    Entries are sorted by class; classes are numbered from 0, and each has an entry.

    Rows 1, 3 and 6 form a class and hold the values 4, 2 and 4; row 8 is a class of its own and holds 2:

    >>> group, code, row = np.array([0, 0, 0, 1]), np.array([4, 2, 4, 2]), np.array([1, 3, 6, 8])
    >>> values = ClassValues.of(group, code, row, weight=np.ones(4, dtype=np.int64))
    >>> list(zip(values.group.tolist(), values.code.tolist(), values.weight.tolist(), values.first.tolist()))
    [(0, 2, 1, 3), (0, 4, 2, 1), (1, 2, 1, 8)]
    >>> values.code[values.heaviest()].tolist()
    [4, 2]
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
        """The entries whose value is marked in `codes`."""
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


def ground_codes(values: Sequence[str | None]) -> NDArray[np.bool_]:
    """Per code: is it a value that tuples are grouped by and that may be written? A null and `*` are not."""
    return np.array([value is not None and value != ROOT for value in values], dtype=np.bool_)


def _blocks(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Runs of entries that have about PAIRS pairs together, at least one entry each."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        reached = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, reached + PAIRS, side="right")))
        yield begin, end
        begin = end


UNIT = 1_000_000
"""The cost of writing over a text that has nothing in common with the new one; also of any text over a null."""

MOST_IN_A_TABLE = 1024
"""Up to so many values, the costs of all pairs are kept."""


class EditCosts:
    """The costs between the values of one column, given by code: each its place in `values`."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self._texts = ["" if value is None else value for value in values]
        self._lengths = np.fromiter(map(len, self._texts), dtype=np.int64)

    def between(self, one: Ints, other: Ints) -> Ints:
        """Per pair of codes, in millionths."""
        if len(self._texts) <= MOST_IN_A_TABLE:
            return self._table[one, other]
        pairs, place = np.unique(
            np.minimum(one, other) * len(self._texts) + np.maximum(one, other), return_inverse=True
        )
        return self._of_pairs(*np.divmod(pairs, len(self._texts)))[place]

    @cached_property
    def _table(self) -> Ints:
        from rapidfuzz.distance import DamerauLevenshtein  # here: slow to import, rarely needed
        from rapidfuzz.process import cdist

        edits = cdist(self._texts, self._texts, scorer=DamerauLevenshtein.distance, dtype=np.int32)
        return _normalised(edits, np.maximum.outer(self._lengths, self._lengths))

    def _of_pairs(self, one: Ints, other: Ints) -> Ints:
        from rapidfuzz.distance import DamerauLevenshtein
        from rapidfuzz.process import cpdist

        texts = np.array(self._texts, dtype=object)
        edits = cpdist(texts[one].tolist(), texts[other].tolist(), scorer=DamerauLevenshtein.distance, dtype=np.int32)
        return _normalised(edits, np.maximum(self._lengths[one], self._lengths[other]))


def _normalised(edits: NDArray[np.int32], lengths: Ints) -> Ints:
    return np.rint(edits.astype(np.int64) * UNIT / np.maximum(lengths, 1)).astype(np.int64)
