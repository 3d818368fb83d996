"""Tuples of codes, numbered, and found again by what they hold: exactly, in sorted arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pacas.core.histogram import Ints


class TupleIndex:
    """The distinct tuples of some columns.

    >>> index = TupleIndex([np.array([3, 1, 3]), np.array([0, 5, 0])], [4, 6])
    >>> index.number.tolist(), index.count
    ([1, 0, 1], 2)
    >>> index.find([np.array([1, 3, 3]), np.array([5, 0, 5])]).tolist()
    [0, 1, -1]
    """

    def __init__(self, columns: Sequence[Ints], sizes: Sequence[int]) -> None:
        """Codes of column i are below `sizes[i]`. Without a column, all tuples are the same."""
        self._sizes = list(sizes)
        self._steps: list[Ints] = []
        self.number: Ints = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
        """Per tuple: its number; in order of the codes."""
        for column, size in zip(columns, sizes, strict=True):
            keys, number = np.unique(self.number * size + column, return_inverse=True)
            self._steps.append(keys)
            self.number = number.astype(np.int64)
        self.count = len(self._steps[-1]) if self._steps else 1

    def find(self, columns: Sequence[Ints]) -> Ints:
        """The numbers of other tuples, −1 for one that is not here."""
        at = np.zeros(len(columns[0]), dtype=np.int64)
        there = np.ones(len(at), dtype=np.bool_)
        for keys, column, size in zip(self._steps, columns, self._sizes, strict=True):
            wanted = at * size + column
            at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            there &= (keys[at] == wanted) if len(keys) else False
        return np.where(there, at, -1)
