"""One attribute for sale, as far as it is public: its units, what finds them, and from which level on each is sold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import NONE, Groups, Ints, Mask
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Request
from pacas.protocol.price_list import SEVERAL
from pacas.provider.matching import Matcher
from pacas.provider.quoter.priced_component import PricedComponent


class FoundUnits(NamedTuple):
    """What requests find: a unit each, `SEVERAL` or `NONE`; how many rows; and below which level no answer is one."""

    units: Ints
    matches: Ints
    never_below: Ints


class SoldAttribute:
    """The units of an attribute, and the lowest level at which each of them is sold."""

    def __init__(self, attribute: str, priced: PricedComponent, max_matches: int, floor: int = 0) -> None:
        self.attribute = attribute
        self.priced, self.place = priced, priced.linked.attributes.index(attribute)
        self.top = priced.heights[self.place]
        """The level at which nothing is told: the root's or, where a row may be absent, the one above."""
        self.height = self.top - priced.linked.may_be_absent
        self.floor: NDArray[np.int8] = np.full(len(priced.units), floor, dtype=np.int8)
        """Per unit the lowest level at which it is sold."""
        self.max_matches = max_matches

    def found(self, rows: Groups, matches: Ints) -> FoundUnits:
        """What is found by requests that match so many rows each; of those that match too many none need be given."""
        units = self.priced.units.found_by(rows)
        unanswered = (matches == 0) | (matches > self.max_matches)
        return FoundUnits(
            units, matches, np.where(unanswered, self.height + 1, np.where(units == SEVERAL, self.top, 0))
        )

    def can_be_bought(self, together: Groups) -> Mask:
        """Per unit: can there be a tuple that finds it, and nothing else? Some rows are always found `together`."""
        groups = self.found(together, np.diff(together.offsets))
        found = np.zeros(len(self.priced.units), dtype=np.bool_)
        found[groups.units[(groups.units >= 0) & (groups.never_below <= self.height)]] = True
        return found


class UnitFinder:
    """Where requests for an attribute find units; where equality decides alone, all that can be found is kept."""

    def __init__(self, matcher: Matcher, sold: SoldAttribute) -> None:
        self.matcher, self._sold = matcher, sold
        by_slot = matcher.by_slot
        self._by_slot = None if by_slot is None else _lines(self._found(_and_nothing(by_slot[0])))
        """What each slot finds, number by number: all that a quote needs is one look."""

    def _found(self, rows: Groups) -> FoundUnits:
        return self._sold.found(rows, np.diff(rows.offsets))

    def by_slot(self) -> FoundUnits:
        """What requests find slot by slot; only where equality decides alone."""
        assert self._by_slot is not None
        return FoundUnits(*self._by_slot[:-1].T.astype(np.int64))

    def find(self, tuples: Columns) -> FoundUnits:
        """What each tuple finds."""
        if self._by_slot is None:
            matches = self.matcher.match_columns(tuples, self._sold.max_matches)
            return self._found(Groups.of_sizes(matches.sizes, np.concatenate([NONE, *matches])))
        return FoundUnits(*self._by_slot[self.matcher.slots(tuples)].T.astype(np.int64))

    def find_one(self, request: Request) -> tuple[int, int, int]:
        """What one request finds: the unit, how many rows, and below which level no answer is one."""
        if self._by_slot is None:
            found = self.find({column: [value] for column, value in request.tuple.items()})
            return int(found.units[0]), int(found.matches[0]), int(found.never_below[0])
        unit, matches, never_below = self._by_slot[self.matcher.slot(request.tuple)].tolist()
        return unit, matches, never_below

    def all_found(self, request: Request) -> Ints:
        """Every unit that a request finds, however many."""
        (rows,) = self.matcher.match([request.tuple])
        return self._sold.priced.units.of_row[rows]


def _lines(found: FoundUnits) -> NDArray[np.int32]:
    return np.stack(found, axis=1).astype(np.int32)


def _and_nothing(rows: Groups) -> Groups:
    """One group more, without members: the slot −1, of tuples that match nothing."""
    return Groups(np.append(rows.offsets, rows.offsets[-1]), rows.members)
