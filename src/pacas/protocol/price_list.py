"""A sealed provider's price list: all that its quotes for an attribute follow from, so that a client can quote itself.

Whom a tuple finds is listed by digests of keys, and nobody gets a list of people: who knows a key may look it up, as
with a quote. Nothing in a list changes while the provider sells; what changes a buyer's prices are its own purchases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.unit_prices import Ints, UnitPrices
from pacas.protocol.key_digest import NOTHING, Digests, KeyDigest
from pacas.protocol.messages import Request
from pacas.protocol.order_of_checks import judged, judged_at

NONE, SEVERAL, TOO_MANY = -1, -2, -3
"""What a key finds in place of a unit: no row, rows of several units, or more rows than are ever answered."""


class PriceList:
    """The digests of all keys that find something, in order; of each the unit, and from which level on it is sold.

    `height` is the level of the attribute's root. `prices` are those of the units, in all attributes whose purchases
    bear on them.
    """

    def __init__(
        self,
        attribute: str,
        height: int,
        key: KeyDigest,
        prices: UnitPrices,
        digests: Digests,
        units: Ints,
        floors: NDArray[np.int8],
    ) -> None:
        self.attribute, self.height, self.key, self.prices = attribute, height, key, prices
        self.digests, self.units, self.floors = digests, units, floors
        self._place = prices.attributes.index(attribute)
        self._digests = np.append(digests, np.uint64(NOTHING))  # at the end, −1 included, is what finds no row
        self._units, self._floors = np.append(units, NONE), np.append(floors, np.int8(0))

    def ladders(self, tuples: Mapping[str, Sequence[str | None]], bought: BoughtLevels) -> Ints:
        """Prices and refusals at all levels, for who has bought what was `bought`."""
        keys = zip(*(tuples[column.name] for column in self.key.columns), strict=True)
        at = self._find(self.key.of_all(keys))
        units, floors = self._units[at], self._floors[at]
        prices = self.prices.prices(units, self._place, self.height + 1, bought)
        refused = np.array([self._never_below(unit) for unit in (0, NONE, SEVERAL, TOO_MANY)])
        return judged(prices, (units != NONE).astype(np.int64), refused[-np.minimum(units, 0)], floors)

    def quote(self, request: Request, bought: BoughtLevels) -> int:
        """One request's price, or a refusal."""
        at = self._look_up(request)
        unit = int(self._units[at])
        price = self.prices.price(unit, self._place, request.level, bought)
        return judged_at(request.level, unit != NONE, self._never_below(unit), int(self._floors[at]), price)

    def learn(self, request: Request, bought: BoughtLevels) -> None:
        """Take in a purchase."""
        unit = int(self._units[self._look_up(request)])
        if unit >= 0:
            bought.learn(self.prices, self._place, unit, request.level)

    def _look_up(self, request: Request) -> int:
        digest = self.key.of([request.tuple[column.name] for column in self.key.columns])
        return int(self._find(np.array([digest], dtype=np.uint64))[0])

    def _find(self, digests: Digests) -> Ints:
        at = np.searchsorted(self.digests, digests)
        return np.where(self._digests[at] == digests, at, -1)

    def _never_below(self, unit: int) -> int:
        """Below which level no answer is one."""
        if unit >= 0:
            return 0
        return self.prices.heights[self._place] if unit == SEVERAL else self.height + 1
