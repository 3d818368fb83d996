"""One attribute that is for sale, as far as it is public: its units, and from which level on each is sold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import Groups, Ints, Mask
from pacas.protocol.price_list import SEVERAL
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
