"""The quotes of everything that can be asked for by equality, kept current: most requests are then one look.

Tuples that match by equality alone match a *slot*: the rows that agree in all match columns. What a slot costs a buyer
who has bought nothing of it never changes. The lowest level at which it is safe changes only with sales in an X-group
that one of its rows is in; such a sale forgets it, and the next request for it finds it again.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import NONE, Array, Groups, Ints, spread
from pacas.protocol.messages import Reason, refused
from pacas.provider.pricing.conflicts import ConflictSets, Inquiry, without_edits
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.pricing.prices import Prices
from pacas.provider.safety.surviving import Surviving

UNKNOWN = -1
AT_A_TIME = 1 << 15
"""Slots that are judged together: few enough that the arrays on the way stay small."""


class QuoteCache:
    """All slots of one attribute that edits have no say in."""

    def __init__(self, inquiry: Inquiry, rows: Groups, slot_of_row: Ints, prices: Prices, untouched: Knowledge) -> None:
        self._attribute, self._height = inquiry.offer.attribute, inquiry.hierarchy.height
        self._rows, self._slot_of_row, self._prices = rows, slot_of_row, prices
        self.sizes: Ints = np.diff(rows.offsets)
        self._most_rows = int(min(self.sizes.max(initial=0), inquiry.max_matches))
        all_slots = without_edits(self._attribute, rows.offsets, rows.members)
        self._fresh = prices.ladders(all_slots, untouched, self._height)
        self._blocked = self._refusals(inquiry.agreeing(all_slots.rows, all_slots.offsets), inquiry.max_matches)
        self._finest: NDArray[np.int8] = np.full(len(self.sizes), UNKNOWN, dtype=np.int8)

    def _refusals(self, agree: Ints, max_matches: int) -> NDArray[np.int8]:
        """Per slot: below which level it is ambiguous."""
        return np.where(self.sizes > max_matches, self._height + 1, agree).astype(np.int8)

    def sets(self, slots: Ints) -> ConflictSets:
        """The conflict sets of some slots."""
        starts, sizes = self._rows.offsets[slots], self.sizes[slots]
        offsets = np.zeros(len(slots) + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return without_edits(self._attribute, offsets, self._rows.members[spread(starts, sizes)])

    def rows(self, slot: int) -> Ints:
        """The rows of one slot."""
        return self._rows.one(slot)

    def quote(self, slot: int, level: int, known: Knowledge, state: SalesState) -> int:
        """One slot's price at a level, or a refusal; −1 is the slot of a tuple that matches nothing."""
        if slot < 0 or not self.sizes[slot]:  # a value that no row has, but a neighbour, has an empty slot
            return _NO_MATCH
        if level < self._blocked[slot]:
            return _AMBIGUOUS
        if level < self._finest_of(slot, state):
            return _UNSAFE
        return self._price(slot, level, known) if self._is_marked(slot, known) else int(self._fresh[slot, level])

    def ladder(self, slot: int, known: Knowledge, state: SalesState) -> list[int]:
        """The same at all levels."""
        if slot < 0 or not self.sizes[slot]:
            return [_NO_MATCH] * (self._height + 1)
        blocked = int(self._blocked[slot])
        if blocked > self._height:
            return [_AMBIGUOUS] * (self._height + 1)
        finest = max(blocked, self._finest_of(slot, state))
        if self._is_marked(slot, known):
            prices = [self._price(slot, level, known) for level in range(finest, self._height + 1)]
        else:
            prices = self._fresh[slot, finest:].tolist()
        return [_AMBIGUOUS] * blocked + [_UNSAFE] * (finest - blocked) + prices

    def _finest_of(self, slot: int, state: SalesState) -> int:
        finest = int(self._finest[slot]) if state.steady(self._most_rows) else UNKNOWN
        return self._find(slot, state) if finest == UNKNOWN else finest

    def _is_marked(self, slot: int, known: Knowledge) -> bool:
        marked = known.marked.get(self._attribute)
        return marked is not None and bool(marked[slot])

    def _price(self, slot: int, level: int, known: Knowledge) -> int:
        """What a slot costs a buyer who has bought of it before."""
        rows = self._rows.one(slot).tolist()
        return sum(self._prices.of_cell(self._attribute, row, level, known, self._height) for row in rows)

    def ladders(self, slots: Ints, known: Knowledge, state: SalesState) -> Ints:
        """Prices and refusals at all levels for many slots, −1 for a tuple that matches nothing."""
        if not len(self.sizes):
            return np.full((len(slots), self._height + 1), _NO_MATCH)
        self._find_missing(slots, state)
        prices: Ints = self._fresh[slots]
        if self._attribute in known.marked:
            bought = np.flatnonzero(known.marked[self._attribute][slots] & (slots >= 0))
            if len(bought):
                prices[bought] = self._prices.ladders(self.sets(slots[bought]), known, self._height)
        level = np.arange(self._height + 1)
        prices[level < self._finest[slots][:, None]] = _UNSAFE
        prices[level < self._blocked[slots][:, None]] = _AMBIGUOUS
        prices[(slots < 0) | (self.sizes[slots] == 0)] = _NO_MATCH
        return prices

    def fill(self, state: SalesState) -> None:
        """Judge every slot, some at a time."""
        for first in range(0, len(self.sizes), AT_A_TIME):
            self._find_missing(np.arange(first, min(first + AT_A_TIME, len(self.sizes))), state)

    def mark(self, known: Knowledge, rows: Ints) -> None:
        """A buyer has bought something of these rows: the price of their slots is no longer a fresh buyer's."""
        if self._attribute not in known.marked:
            known.marked[self._attribute] = np.zeros(len(self.sizes), dtype=np.bool_)
        known.marked[self._attribute][self._slots_of(rows)] = True

    def mark_slot(self, known: Knowledge, slot: int) -> None:
        """The same for all rows of a slot."""
        if self._attribute not in known.marked:
            self.mark(known, NONE)
        known.marked[self._attribute][slot] = True

    def forget(self, rows: Ints | slice) -> None:
        """These rows' X-groups have changed."""
        self._finest[self._slots_of(rows)] = UNKNOWN

    def forget_slot(self, slot: int) -> None:
        """The X-groups of all its rows have changed, and lie in it."""
        self._finest[slot] = UNKNOWN

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

    def _find(self, slot: int, state: SalesState) -> int:
        finest = state.current().finest_of_few(self._attribute, self._rows.one(slot).tolist())
        if state.steady(self._most_rows):
            self._finest[slot] = finest
        return finest

    def _find_missing(self, slots: Ints, state: SalesState) -> None:
        if not state.steady(self._most_rows):
            self._finest[slots] = UNKNOWN
        missing = slots[(self._finest[slots] == UNKNOWN) & (slots >= 0)]
        if not len(missing):
            return
        missing = np.unique(missing[self.sizes[missing] > 0])
        self._finest[missing] = state.current().finest(self.sets(missing))


class SalesState(Protocol):
    """The sales so far, as far as safety is concerned."""

    def steady(self, rows: int) -> bool:
        """Do quotes of so many rows that are kept still hold?"""
        ...

    def current(self) -> Surviving:
        """What all buyers have left."""
        ...


_UNSAFE, _AMBIGUOUS, _NO_MATCH = (refused(r) for r in (Reason.UNSAFE, Reason.AMBIGUOUS, Reason.NO_MATCH))
