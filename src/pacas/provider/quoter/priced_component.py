"""What answers about a component's rows are worth, in whole nanocredits."""

from __future__ import annotations

from pacas.core.component import Component, LevelVector
from pacas.engine.grouping import Ints
from pacas.provider.quoter.units import Units


class PricedComponent:
    """A component with its units and what they cost: every row alike, but for one that has what does not divide."""

    def __init__(self, component: Component, units: Units, price: Ints, price_of_first: Ints, first: int) -> None:
        self.component, self.units, self.price = component, units, price
        self._more, self._first = price_of_first - price, first

    def worth(self, unit: int, levels: LevelVector) -> int:
        """What answers at some levels about a unit are worth to who knows nothing of it."""
        own = int(self.price[levels]) * int(self.units.sizes[unit])
        return own + (int(self._more[levels]) if unit == self._first else 0)

    def ladders(self, units: Ints, place: int) -> Ints:
        """The prices of one attribute at all levels, of many units, for who knows nothing of them."""
        at = tuple(slice(None) if n == place else height for n, height in enumerate(self.component.heights))
        prices: Ints = self.units.sizes[units][:, None] * self.price[at]
        prices[units == self._first] += self._more[at]
        return prices
