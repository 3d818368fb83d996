"""`=`: all equality clauses at once, as one lookup."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, repeat

import numpy as np

from pacas.core.hierarchy import canonical_number
from pacas.engine.codes import CodedColumn
from pacas.engine.grouping import Array, Keys, distinct

FEW = 8
"""Tuples up to which it is faster to go one by one."""
DENSE = 2
"""Keys per row up to which an array of all keys is worth its memory."""


class ValueNumbers(dict[str | None, int]):
    """A column's values, numbered from 0; −1 for a null and for what the column does not have.

    Where the column compares by number, all spellings of a number have one.
    """

    def __init__(self, values: Sequence[str | None], numeric: bool) -> None:
        self._numeric = numeric
        texts = [value for value in values if value]
        if not numeric:
            super().__init__(zip(texts, count(), strict=False))
            self.count = len(texts)
            return
        spelling = [canonical_number(text) for text in texts]
        super().__init__(zip(dict.fromkeys(spelling), count(), strict=False))
        self.count = len(self)
        self.update({text: self[number] for text, number in zip(texts, spelling, strict=True)})

    def __missing__(self, value: str | None) -> int:
        return self.get(canonical_number(value), -1) if self._numeric and value else -1

    def of(self, column: CodedColumn) -> Keys:
        """The number of each row's value."""
        numbers = np.fromiter((self[value] for value in column.values), np.int64, len(column.values))
        return column.recoded(numbers, self.count)


class EqualityIndex:
    """Rows that agree in all columns of the equality clauses share a slot.

    Slots are found column by column: the pair (slot so far, number of the next column's value) has a slot. So keys
    stay below |R|², however many columns there are.
    """

    def __init__(self, columns: Sequence[CodedColumn], numeric: Sequence[bool], client_at: Sequence[int]) -> None:
        first, *others = [ValueNumbers(column.values, by) for column, by in zip(columns, numeric, strict=True)]
        self._first, self._first_at = first, client_at[0]
        self._others: list[tuple[int, ValueNumbers, int, dict[int, int]]] = []
        self._tables: list[Array | None] = []
        """The pairs' slots as arrays, where they are dense enough: for many tuples that is faster."""
        self.slots = first.of(columns[0])
        for column, numbers, at in zip(columns[1:], others, client_at[1:], strict=True):
            keys = self.slots.space * (numbers.count + 1)
            self.slots, pairs = _paired(self.slots, numbers.of(column))
            self._others.append((at, numbers, numbers.count + 1, pairs))
            self._tables.append(_table(pairs, keys) if keys <= DENSE * len(self.slots.key) else None)

    def slot(self, values: Sequence[str | None]) -> int:
        """The slot of the rows that have a client's values, −1 where there are none."""
        slot = self._first[values[self._first_at]]
        for at, numbers, stride, pairs in self._others:
            slot = pairs.get(slot * stride + numbers[values[at]], -1)
        return slot

    def slots_of(self, columns: Sequence[Sequence[str | None]]) -> Array:
        """The slot of each of many tuples, which come by column."""
        if len(columns[0]) <= FEW:
            return np.array([self.slot(values) for values in zip(*columns, strict=True)], dtype=np.int64)
        slot = _numbers(self._first, columns[self._first_at])
        for (at, numbers, stride, pairs), table in zip(self._others, self._tables, strict=True):
            keys = slot * stride + _numbers(numbers, columns[at])
            if table is None:
                slot = np.fromiter(map(pairs.get, keys.tolist(), repeat(-1)), np.int64, len(keys))
            else:
                slot = np.where(keys >= 0, table[keys], -1)
        return slot


def _numbers(numbers: ValueNumbers, values: Sequence[str | None]) -> Array:
    return np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))


def _table(pairs: dict[int, int], keys: int) -> Array:
    """The slot of each key, −1 for one that no pair has."""
    table = np.full(keys, -1, dtype=np.int64)
    table[np.fromiter(pairs, np.int64, len(pairs))] = np.fromiter(pairs.values(), np.int64, len(pairs))
    return table


def _paired(left: Keys, right: Keys) -> tuple[Keys, dict[int, int]]:
    """Slots for the pairs that occur, numbered by first row, and the slot of each.

    The stride is one more than needed, and there is no slot below 0: so −1 on either side gives a key that no pair has.
    """
    key: Array = left.key.astype(np.int64) * (right.space + 1) + right.key
    key[(left.key < 0) | (right.key < 0)] = -1
    slots, keys = distinct(key)
    pairs = dict(zip(keys.tolist(), count(), strict=False))
    return Keys(slots, len(pairs), left.partial or right.partial), pairs
