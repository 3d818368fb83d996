"""One attribute that is for sale, as far as it is public: what a request finds, and from which level on it is sold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import Groups, Ints
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Request
from pacas.provider.matching import Matcher
from pacas.provider.quoter.priced_component import PricedComponent
from pacas.provider.quoter.units import SEVERAL

Mask = NDArray[np.bool_]


class FoundUnits(NamedTuple):
    """What requests find: a unit each, `SEVERAL` or `NONE`; how many rows; and below which level no answer is one."""

    units: Ints
    matches: Ints
    never_below: Ints


class SoldAttribute:
    """Where requests for an attribute find units, and the lowest level at which each unit is sold."""

    def __init__(self, attribute: str, priced: PricedComponent, matcher: Matcher, max_matches: int) -> None:
        self.priced, self.place = priced, priced.component.attributes.index(attribute)
        self.height = priced.component.heights[self.place]
        self.matcher = matcher
        self.floor: NDArray[np.int8] = np.zeros(len(priced.units), dtype=np.int8)
        """Per unit the lowest level at which it is sold."""
        self._max_matches = max_matches
        by_slot = matcher.by_slot
        self._by_slot = None if by_slot is None else self._found(_and_nothing(by_slot[0]))

    def _found(self, rows: Groups) -> FoundUnits:
        units, matches = self.priced.units.found_by(rows), np.diff(rows.offsets)
        unanswered = (matches == 0) | (matches > self._max_matches)
        return FoundUnits(
            units, matches, np.where(unanswered, self.height + 1, np.where(units == SEVERAL, self.height, 0))
        )

    def find(self, tuples: Columns) -> FoundUnits:
        """What each tuple finds."""
        if self._by_slot is None:
            matches = self.matcher.match_columns(tuples, self._max_matches)
            offsets = np.concatenate([[0], np.cumsum(matches.sizes)])
            return self._found(Groups(offsets, np.concatenate([np.empty(0, dtype=np.int64), *matches])))
        slots = self.matcher.slots(tuples)
        return FoundUnits(*(kept[slots] for kept in self._by_slot))

    def find_one(self, request: Request) -> tuple[int, int, int]:
        """What one request finds: the unit, how many rows, and below which level no answer is one."""
        if self._by_slot is None:
            found = self.find({column: [value] for column, value in request.tuple.items()})
            return int(found.units[0]), int(found.matches[0]), int(found.never_below[0])
        slot = self.matcher.slot(request.tuple)
        units, matches, never_below = self._by_slot
        return int(units[slot]), int(matches[slot]), int(never_below[slot])

    def can_be_bought(self) -> Mask:
        """Per unit: is there a tuple that finds it, and nothing else?"""
        if self._by_slot is None:
            return np.ones(len(self.priced.units), dtype=np.bool_)
        found = np.zeros(len(self.priced.units), dtype=np.bool_)
        found[self._by_slot.units[(self._by_slot.units >= 0) & (self._by_slot.never_below <= self.height)]] = True
        return found


def _and_nothing(rows: Groups) -> Groups:
    """One group more, without members: the slot −1, of tuples that match nothing."""
    return Groups(np.append(rows.offsets, rows.offsets[-1]), rows.members)
