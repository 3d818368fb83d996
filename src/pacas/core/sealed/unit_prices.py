"""What units cost a buyer: from a public table over level vectors, and from what the buyer has bought before.

A provider quotes by it, and so does a client that has the provider's price list: they cannot come to other prices.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.component import LevelVector, lowered

Ints = NDArray[np.int64]


class UnitPrices:
    """The units of linked attributes. `tables[kind]` is what answers at each level vector are worth of such a unit.

    `presence` is per unit what it costs besides, once for all attributes, to learn whether it is there at all; None
    where everybody knows.

    >>> two = UnitPrices(("MED",), np.array([[900, 600, 0], [1800, 1200, 0]]), np.array([0, 1]))
    >>> bought = BoughtLevels()
    >>> bought.learn(two, 0, unit=1, level=1)
    >>> two.prices(np.array([0, 1, -1]), 0, 3, bought).tolist()
    [[900, 600, 0], [600, 0, 0], [0, 0, 0]]
    """

    def __init__(
        self,
        attributes: tuple[str, ...],
        tables: Ints,
        kind: Ints,
        presence: Ints | None = None,
        numbers: Ints | None = None,
    ) -> None:
        self.attributes, self.tables = attributes, tables
        self.kind = kind.astype(np.min_scalar_type(len(tables)))  # small: it is looked at for every quote
        self.presence, self.numbers = presence, numbers
        self.heights: LevelVector = tuple(levels - 1 for levels in tables.shape[1:])

    @cached_property
    def _fresh(self) -> list[list[list[int]]]:
        """Per attribute, kind and level the price for who has bought nothing of a unit."""
        return [self._ladders(place).tolist() for place in range(len(self.attributes))]

    def _ladders(self, place: int) -> Ints:
        """Per kind and level the worth of answers in one attribute alone."""
        at = tuple(slice(None) if n == place else height for n, height in enumerate(self.heights))
        return self.tables[(slice(None), *at)]

    def worth(self, unit: int, levels: LevelVector) -> int:
        """What answers at some levels about a unit are worth to who knows nothing of it but that it is there."""
        return int(self.tables[(self.kind[unit], *levels)])

    def price(self, unit: int, place: int, level: int, bought: BoughtLevels) -> int:
        """What a unit costs a buyer in an attribute at a level, with what it has bought before; 0 where there is none.

        Paper: Alg. 1 with history (D8), expected over what is public.
        """
        if unit < 0:
            return 0
        now = bought.of(self, unit)
        if now is self.heights:
            more: int = self._fresh[place][self.kind[unit]][level]
        else:
            more = self.worth(unit, lowered(now, place, level)) - self.worth(unit, now)
        if self.presence is None or bought.is_known(self, unit):
            return more
        return more + int(self.presence[unit])

    def prices(self, units: Ints, place: int, levels: int, bought: BoughtLevels) -> Ints:
        """What many units cost a buyer in an attribute, at so many levels from ground."""
        some = np.flatnonzero(units >= 0)
        prices = np.zeros((len(units), levels), dtype=np.int64)
        prices[some] = self._ladders(place)[self.kind[units[some]], :levels]
        if self.presence is not None:
            prices[some] += self.presence[units[some]][:, None]
        if touched := bought.touched(self).keys() if self.presence is None else bought.known(self):
            for number, unit in enumerate(units.tolist()):
                if unit in touched:
                    prices[number] = [self.price(unit, place, level, bought) for level in range(levels)]
        return prices
