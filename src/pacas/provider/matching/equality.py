"""`=` and `~ … normalized`: all clauses that ask for one spelling, at once, as one lookup."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.grouping import Array, Keys, distinct

Spelling = Callable[[str], str]
"""The one spelling of a value, by which a column is compared."""
FEW = 8
"""Tuples up to which it is faster to go one by one."""
DENSE = 16
"""Keys per row up to which a table of all keys takes less memory than a dictionary of those that occur."""


class ValueNumbers(dict[str | None, int]):
    """A column's values, numbered from 0; −1 for a null and for what the column does not have.

    Where the column compares by a spelling, all texts of that spelling have one.
    """

    def __init__(self, values: Sequence[str | None], spelling: Spelling | None) -> None:
        self._spelling = spelling
        texts = [value for value in values if value]
        spelled = texts if spelling is None else [spelling(text) for text in texts]
        self._spelled = dict(zip(dict.fromkeys(spelled), count(), strict=False))
        super().__init__(zip(texts, map(self._spelled.__getitem__, spelled), strict=True))
        self.count = len(self._spelled)

    def __missing__(self, value: str | None) -> int:
        return self._spelled.get(self._spelling(value), -1) if self._spelling and value else -1

    def of_many(self, values: Sequence[str | None]) -> Array:
        """The number of each value; each is spelled once."""
        number = self if self._spelling is None else {value: self[value] for value in set(values)}
        return np.fromiter(map(number.__getitem__, values), np.int64, len(values))

    def of(self, column: CodedColumn) -> Keys:
        """The number of each row's value."""
        numbers = np.fromiter((self[value] for value in column.values), np.int64, len(column.values))
        return column.recoded(numbers, self.count)


class EqualityIndex:
    """Rows that agree in all columns of these clauses share a slot.

    Slots are found column by column: the pair (slot so far, number of the next column's value) has a slot. So keys
    stay below |R|², however many columns there are.
    """

    def __init__(
        self, columns: Sequence[CodedColumn], spellings: Sequence[Spelling | None], client_at: Sequence[int]
    ) -> None:
        first, *others = [ValueNumbers(column.values, by) for column, by in zip(columns, spellings, strict=True)]
        self._first, self._first_at = first, client_at[0]
        self._others: list[_Pairs] = []
        self.slots = first.of(columns[0])
        for column, numbers, at in zip(columns[1:], others, client_at[1:], strict=True):
            space, stride = self.slots.space, numbers.count + 1
            self.slots, keys = _paired(self.slots, numbers.of(column))
            table = _table(keys, space * stride) if space * stride <= DENSE * len(self.slots.key) else None
            of_key = dict(zip(keys.tolist(), count(), strict=False)) if table is None else {}
            self._others.append(_Pairs(at, numbers, stride, of_key, table))

    def slot(self, values: Sequence[str | None]) -> int:
        """The slot of the rows that have a client's values, −1 where there are none."""
        slot = self._first[values[self._first_at]]
        for at, numbers, stride, of_key, table in self._others:
            key = slot * stride + numbers[values[at]]
            slot = of_key.get(key, -1) if table is None else table[key] if key >= 0 else -1
        return slot

    def slots_of(self, columns: Sequence[Sequence[str | None]]) -> Array:
        """The slot of each of many tuples, which come by column."""
        if len(columns[0]) <= FEW:
            return np.array([self.slot(values) for values in zip(*columns, strict=True)], dtype=np.int64)
        slot = self._first.of_many(columns[self._first_at])
        for at, numbers, stride, of_key, table in self._others:
            keys = slot * stride + numbers.of_many(columns[at])
            if table is None:
                slot = np.fromiter(map(of_key.get, keys.tolist(), repeat(-1)), np.int64, len(keys))
            else:
                slot = np.asarray(table)[np.maximum(keys, -1)].astype(np.int64)
        return slot


class _Pairs(NamedTuple):
    """The slots of pairs, by their keys: in a table that has a place for each, or in a dictionary."""

    client_at: int
    numbers: ValueNumbers
    stride: int
    of_key: dict[int, int]
    table: memoryview | None


def _table(pairs: Array, keys: int) -> memoryview:
    """The slot of each key, −1 for one that no pair has, and for −1 itself, which finds the last."""
    table = np.full(keys + 1, -1, dtype=np.int32)
    table[pairs] = np.arange(len(pairs))
    return table.data  # one of its numbers is read faster than one of an array's


def _paired(left: Keys, right: Keys) -> tuple[Keys, Array]:
    """Slots for the pairs that occur, numbered by first row, and the key of each.

    The stride is one more than needed, and there is no slot below 0: so −1 on either side gives a key that no pair has.
    """
    key: Array = left.key.astype(np.int64) * (right.space + 1) + right.key
    key[(left.key < 0) | (right.key < 0)] = -1
    slots, keys = distinct(key)
    return Keys(slots, len(keys), left.partial or right.partial), keys
