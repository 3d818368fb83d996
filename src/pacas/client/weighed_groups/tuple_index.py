"""Tuples of codes, numbered, and found again by what they hold: exactly, in tables or in sorted arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pacas.core.histogram import Ints

DENSE = 8
"""A table of places may have so many entries a key: looking up is then one step, wherever a binary search has many."""

SMALL = 1 << 16
"""Or so many in all."""


class KeyPlaces:
    """Where each of some keys stands in an ascending array."""

    def __init__(self, keys: Ints, most: int) -> None:
        """Keys that are asked for are below `most`."""
        self._keys = keys
        self._table: Ints | None = None
        if most <= max(DENSE * len(keys), SMALL):
            self._table = np.full(most + 1, -1, dtype=np.int64)  # the last one is that of −1
            self._table[keys] = np.arange(len(keys))

    def find(self, wanted: Ints) -> Ints:
        """The places of keys, −1 for one that is not here."""
        if self._table is not None:
            return self._table[wanted]
        if not len(self._keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[at] == wanted, at, -1)


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
        self.count = 1
        self._steps: list[KeyPlaces] = []
        self.number: Ints = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
        """Per tuple: its number; in order of the codes."""
        for column, size in zip(columns, sizes, strict=True):
            keys, number = np.unique(self.number * size + column, return_inverse=True)
            self._steps.append(KeyPlaces(keys, self.count * size))
            self.number = number.astype(np.int64)
            self.count = len(keys)

    def find(self, columns: Sequence[Ints]) -> Ints:
        """The numbers of other tuples, −1 for one that is not here."""
        at = np.zeros(len(columns[0]), dtype=np.int64)
        for places, column, size in zip(self._steps, columns, self._sizes, strict=True):
            at = places.find(np.where(at >= 0, at * size + column, -1))
        return at
