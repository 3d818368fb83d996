"""What a clause other than equality is asked, and what clauses demand of the combinations of values that occur.

Here are the clauses whose matches lie side by side in some order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache
from typing import Protocol

import numpy as np

from pacas.core.hierarchy import NUMBER, Hierarchy, Mask
from pacas.core.normal_text import DateOrder, normal_text
from pacas.engine.grouping import Array, Groups, Ints

REMEMBERED = 1 << 14
"""Client values whose matches a clause remembers."""


class ClauseIndex(ABC):
    """Which of a provider column's values (by code) a client's value is like."""

    few: int
    """For how many codes asking about each is cheaper than finding all."""

    @abstractmethod
    def find(self, value: str) -> Array:
        """The codes of all values that the client's value is like, each once."""

    @abstractmethod
    def accepts(self, value: str, codes: Array) -> Mask:
        """Per code: is the client's value like it?"""


class _SpanIndex(ClauseIndex):
    """Codes in an order in which the matches of any client's value lie side by side."""

    few = 256

    def __init__(self, order: Array, values: int) -> None:
        self._order = order
        self._span = lru_cache(maxsize=REMEMBERED)(self._find_span)
        self._position = np.full(values, -1, dtype=np.int64)
        self._position[order] = np.arange(len(order))

    @abstractmethod
    def _find_span(self, value: str) -> tuple[int, int]:
        """Where the matches begin and end."""

    def find(self, value: str) -> Array:
        start, end = self._span(value)
        return self._order[start:end]

    def accepts(self, value: str, codes: Array) -> Mask:
        start, end = self._span(value)
        position = self._position[codes]
        return np.asarray((position >= start) & (position < end))


class WithinIndex(_SpanIndex):
    """|client − provider| ≤ N, on the values in order of their numbers.

    Numbers are decimals as they are written, and so is N: 0.4 is within 0.3 of 0.1, which it is not in floats.
    """

    def __init__(self, values: Sequence[str | None], tolerance: float) -> None:
        numbered = [(number, code) for code, value in enumerate(values) if (number := exact_number(value)) is not None]
        numbered.sort()
        self._numbers = [number for number, _ in numbered]
        self._tolerance = Decimal(repr(tolerance))
        super().__init__(np.array([code for _, code in numbered], dtype=np.int64), len(values))

    def _find_span(self, value: str) -> tuple[int, int]:
        number = exact_number(value)
        if number is None:
            return 0, 0
        least, most = _EXACT.subtract(number, self._tolerance), _EXACT.add(number, self._tolerance)
        return bisect_left(self._numbers, least), bisect_right(self._numbers, most)


def exact_number(text: str | None) -> Decimal | None:
    """The number that a text writes down, digit for digit; None for what is no number.

    A number of over 400 characters, or beyond 10^±400, is none: arithmetic on it would take as many digits.
    """
    if not text or len(text) > _MOST or not NUMBER.fullmatch(text):
        return None
    number = _EXACT.create_decimal(text)
    return number if number.is_finite() and abs(number.adjusted()) <= _MOST else None


_MOST = 400
_EXACT = Context(prec=4 * _MOST, traps=[])
"""Enough digits for the exact sum of any two numbers admitted here."""


class CompatibleIndex(_SpanIndex):
    """provider ⪯ client, on the values in the order in which a walk through the hierarchy enters them.

    A value that the hierarchy does not know is a leaf right under the root (D1).
    """

    def __init__(self, values: Sequence[str | None], hierarchy: Hierarchy) -> None:
        there = np.array([code for code, value in enumerate(values) if value], dtype=np.int64)
        texts = [value for value in values if value]
        self._known = hierarchy.admit(texts)
        entered = self._known.enter[self._known.encode(texts)]
        order = np.argsort(entered, kind="stable")
        self._entered = entered[order]
        super().__init__(there[order], len(values))

    def _find_span(self, value: str) -> tuple[int, int]:
        if value not in self._known:
            return 0, 0
        node = self._known.code(value)
        start, end = np.searchsorted(self._entered, (self._known.enter[node], self._known.leave[node]))
        return int(start), int(end)


class NormalizedIndex(_SpanIndex):
    """One thing in several spellings, on the values in the order of the texts that stand for them."""

    def __init__(self, values: Sequence[str | None], order: DateOrder) -> None:
        self._dates = order
        spelled = sorted((normal_text(value, order), code) for code, value in enumerate(values) if value)
        self._texts = [text for text, _ in spelled]
        super().__init__(np.array([code for _, code in spelled], dtype=np.int64), len(values))

    def _find_span(self, value: str) -> tuple[int, int]:
        text = normal_text(value, self._dates)
        return bisect_left(self._texts, text), bisect_right(self._texts, text)


# ---- what clauses demand of the combinations of values that occur --------------------------------------------------


class Demand(Protocol):
    """A clause, or all equality clauses, with a client's values: some combinations fulfil it."""

    def size(self) -> int:
        """How many combinations fulfil it."""
        ...

    def members(self) -> Ints:
        """The combinations that fulfil it, ascending."""
        ...

    def holds(self, combinations: Ints) -> Mask:
        """Per combination: does it fulfil the demand?"""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """The equality clauses: each combination is in one slot."""

    slot_of: Array
    members: Groups

    @classmethod
    def of(cls, slot_of: Array, count: int) -> Slots:
        return cls(slot_of, Groups.of(slot_of, count))


@dataclass(frozen=True, slots=True, eq=False)
class InSlot:
    """The demand of the equality clauses: to be in a certain slot."""

    slots: Slots
    slot: int

    def size(self) -> int:
        return len(self.members())

    def members(self) -> Ints:
        return self.slots.members.one(self.slot)

    def holds(self, combinations: Ints) -> Mask:
        return np.asarray(self.slots.slot_of[combinations] == self.slot)


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A clause other than equality: each combination has one value of its provider column."""

    client_at: int
    """Where the client's value stands among those that the match needs."""
    index: ClauseIndex
    code_of: Array
    members: Groups

    @classmethod
    def of(cls, client_at: int, index: ClauseIndex, code_of: Array, values: int) -> Clause:
        return cls(client_at, index, code_of, Groups.of(code_of, values))


@dataclass(frozen=True, slots=True, eq=False)
class LikeValue:
    """The demand of a clause: to be like the client's value."""

    clause: Clause
    value: str

    def size(self) -> int:
        return self.clause.members.size(self.clause.index.find(self.value))

    def members(self) -> Ints:
        return self.clause.members.some(self.clause.index.find(self.value))

    def holds(self, combinations: Ints) -> Mask:
        return self.clause.index.accepts(self.value, self.clause.code_of[combinations])
