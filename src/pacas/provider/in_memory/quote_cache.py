"""The quotes of everything that can be asked for by equality, kept current: most requests are then one look.

Tuples that match by equality alone match a *slot*: the rows that agree in all match columns. What a slot costs a buyer
who has bought nothing of it never changes. The lowest level at which it is safe changes only with sales in an X-group
that one of its rows is in; such a sale forgets it, and the next request for it finds it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import NONE, Array, Groups, Ints, spread
from pacas.protocol.order_of_checks import AMBIGUOUS, NO_MATCH, UNSAFE, judged
from pacas.provider.pricing.conflicts import ConflictSets, Inquiry, without_edits
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.pricing.prices import Prices
from pacas.provider.safety.surviving import Surviving
from pacas.provider.shop.judging import never_below

UNKNOWN = -1
AT_A_TIME = 1 << 15
"""Slots that are looked at together."""


class QuoteCache:
    """All slots of one attribute that edits have no say in."""

    def __init__(
        self,
        inquiry: Inquiry,
        rows: Groups,
        slot_of_row: Ints,
        prices: Prices,
        untouched: Knowledge,
        state: SalesState,
    ) -> None:
        self._attribute, self.height = inquiry.offer.attribute, inquiry.hierarchy.height
        self._rows, self._slot_of_row, self._prices, self._state = rows, slot_of_row, prices, state
        sizes: Ints = np.diff(rows.offsets)
        self.matches = np.append(sizes, 0)
        """How many rows each slot has; the last is that of a tuple that matches nothing, as −1 finds it."""
        self._most_rows = int(min(sizes.max(initial=0), inquiry.max_matches))
        self._fresh: Ints = np.empty((len(sizes), self.height + 1), dtype=np.int64)
        for some in self._some_at_a_time():
            self._fresh[some] = prices.ladders(self.sets(some), untouched, self.height)
        agree = np.append(inquiry.agreeing(rows.members, rows.offsets), 0)
        never = never_below(self.matches, agree, inquiry.max_matches, self.height)
        self.never_below: NDArray[np.int8] = never.astype(np.int8)
        self._safe_from: NDArray[np.int8] = np.full(len(self.matches), UNKNOWN, dtype=np.int8)

    def sets(self, slots: Ints) -> ConflictSets:
        """The conflict sets of some slots."""
        starts, sizes = self._rows.offsets[slots], self.matches[slots]
        offsets = np.zeros(len(slots) + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return without_edits(self._attribute, offsets, self._rows.members[spread(starts, sizes)])

    def rows(self, slot: int) -> Ints:
        """The rows of one slot."""
        return self._rows.one(slot)

    def safe_from(self, slot: int) -> int:
        """The lowest level at which a slot is safe, found again if a sale has touched it."""
        safe = int(self._safe_from[slot]) if self._state.steady(self._most_rows) else UNKNOWN
        if safe != UNKNOWN:
            return safe
        safe = self._state.current().finest_of_few(self._attribute, self._rows.one(slot).tolist())
        if self._state.steady(self._most_rows):
            self._safe_from[slot] = safe
        return safe

    def quote(self, slot: int, level: int, known: Knowledge) -> int:
        """A slot's price at a level, or a refusal; −1 is that of a tuple that matches nothing."""
        if level < self.never_below[slot]:
            return AMBIGUOUS if self.matches[slot] else NO_MATCH
        return UNSAFE if level < self.safe_from(slot) else self.price(slot, level, known)

    def ladder(self, slot: int, known: Knowledge) -> list[int]:
        """A slot's prices and refusals at all levels."""
        never = int(self.never_below[slot])
        if never > self.height:
            return [AMBIGUOUS if self.matches[slot] else NO_MATCH] * (self.height + 1)
        lowest = max(never, self.safe_from(slot))
        return [AMBIGUOUS] * never + [UNSAFE] * (lowest - never) + self.prices(slot, lowest, known)

    def price(self, slot: int, level: int, known: Knowledge) -> int:
        """What a slot costs a buyer at a level."""
        marked = known.marked.get(self._attribute)
        if marked is None or not marked[slot]:
            return int(self._fresh[slot, level])
        rows = self._rows.one(slot).tolist()
        return sum(self._prices.of_cell(self._attribute, row, level, known, self.height) for row in rows)

    def prices(self, slot: int, lowest: int, known: Knowledge) -> list[int]:
        """What a slot costs a buyer at each level from the `lowest` on."""
        marked = known.marked.get(self._attribute)
        if marked is None or not marked[slot]:
            fresh: list[int] = self._fresh[slot, lowest:].tolist()
            return fresh
        return [self.price(slot, level, known) for level in range(lowest, self.height + 1)]

    def ladders(self, slots: Ints, known: Knowledge) -> Ints:
        """Prices and refusals at all levels for many slots, −1 for a tuple that matches nothing."""
        self._find_missing(slots)
        prices: Ints = self._fresh[slots] if len(self._fresh) else np.zeros((len(slots), self.height + 1), np.int64)
        if self._attribute in known.marked:
            bought = np.flatnonzero(known.marked[self._attribute][slots] & (slots >= 0))
            if len(bought):
                prices[bought] = self._prices.ladders(self.sets(slots[bought]), known, self.height)
        return judged(prices, self.matches[slots], self.never_below[slots], self._safe_from[slots])

    def fill(self) -> None:
        """Judge every slot, some at a time."""
        for some in self._some_at_a_time():
            self._find_missing(some)

    def _some_at_a_time(self) -> Iterator[Ints]:
        """All slots, few enough at a time that the arrays on the way stay small."""
        for first in range(0, len(self._fresh), AT_A_TIME):
            yield np.arange(first, min(first + AT_A_TIME, len(self._fresh)))

    def mark(self, known: Knowledge, rows: Ints) -> None:
        """A buyer has bought something of these rows: the price of their slots is no longer a fresh buyer's."""
        if self._attribute not in known.marked:
            known.marked[self._attribute] = np.zeros(len(self.matches), dtype=np.bool_)
        known.marked[self._attribute][self._slots_of(rows)] = True

    def mark_slot(self, known: Knowledge, slot: int) -> None:
        """A buyer has bought something of all rows of a slot."""
        if self._attribute not in known.marked:
            self.mark(known, NONE)
        known.marked[self._attribute][slot] = True

    def forget(self, rows: Ints | slice) -> None:
        """The X-groups of rows have changed: from which level on their slots are safe must be found again."""
        self._safe_from[self._slots_of(rows)] = UNKNOWN

    def forget_slot(self, slot: int) -> None:
        """The X-groups of all its rows have changed, and lie in it."""
        self._safe_from[slot] = UNKNOWN

    def contains_groups(self, groups: Groups, group: Array) -> bool:
        """Does each of these groups of rows lie in one slot?"""
        first = self._slot_of_row[groups.members[np.minimum(groups.offsets[:-1], len(groups.members) - 1)]]
        linked = group >= 0
        return bool((self._slot_of_row[linked] == first[group[linked]]).all())

    def _slots_of(self, rows: Ints | slice) -> Ints | int:
        """The slots that rows are in. A row with a null in a match column is in none."""
        if not isinstance(rows, slice) and len(rows) == 1:
            slot = int(self._slot_of_row[rows[0]])
            return slot if slot >= 0 else NONE
        slots: Ints = self._slot_of_row[rows]
        return slots[slots >= 0]

    def _find_missing(self, slots: Ints) -> None:
        if not self._state.steady(self._most_rows):
            self._safe_from[slots] = UNKNOWN
        missing = slots[(self._safe_from[slots] == UNKNOWN) & (slots >= 0)]
        if not len(missing):
            return
        missing = np.unique(missing[self.matches[missing] > 0])
        self._safe_from[missing] = self._state.current().finest(self.sets(missing))


class SalesState(Protocol):
    """The sales so far, as far as safety is concerned."""

    def steady(self, rows: int) -> bool:
        """Do quotes of so many rows that are kept still hold?"""
        ...

    def current(self) -> Surviving:
        """What all buyers have left."""
        ...
