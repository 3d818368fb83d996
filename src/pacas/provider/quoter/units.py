"""Units: rows that are sold as one. A row alone, or all that agree on public columns which determine an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pacas.engine.grouping import Groups, Ints
from pacas.provider.quoter.public_index import PublicIndex

SEVERAL, NONE = -2, -1
"""What a request finds that finds rows of more than one unit, or no row."""


class Units:
    """The units of one component, numbered in an order that the index alone decides."""

    def __init__(self, index: PublicIndex, left: Sequence[str]) -> None:
        if left:
            self.of_row: Ints = index.keys(left)
        else:  # nobody tells rows apart that agree in everything public: their order among each other is no matter
            self.of_row = np.empty(index.rows, dtype=np.int64)
            self.of_row[np.argsort(index.keys(sorted(index.columns)), kind="stable")] = np.arange(index.rows)
        self.sizes: Ints = np.bincount(self.of_row)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def rows(self) -> Groups:
        return Groups.of(self.of_row, len(self))

    def found_by(self, found: Groups) -> Ints:
        """What each of many requests finds, from the rows that each matches: a unit, `SEVERAL`, or `NONE`."""
        units = self.of_row[found.members]
        sizes = np.diff(found.offsets)
        result = np.full(len(sizes), NONE, dtype=np.int64)
        some = np.flatnonzero(sizes)
        if len(some):
            starts = found.offsets[:-1][some]
            first = np.minimum.reduceat(units, starts)
            result[some] = np.where(first == np.maximum.reduceat(units, starts), first, SEVERAL)
        return result
