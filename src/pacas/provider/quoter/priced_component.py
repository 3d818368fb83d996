"""What answers about a component's rows are worth, in whole nanocredits."""

from __future__ import annotations

import numpy as np

from pacas.core.sealed.unit_prices import UnitPrices
from pacas.engine.grouping import Ints
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.units import Units


class PricedComponent(UnitPrices):
    """Linked attributes with their units and what these cost: a price table for each case.

    Every row of a case costs alike, but for one row that has what does not divide.
    """

    def __init__(
        self, linked: LinkedAttributes, units: Units, case: Ints, price: Ints, price_of_first: Ints, first: int
    ) -> None:
        self.linked, self.units, self.case, self.price_of_row = linked, units, case, price
        is_first, sizes = np.arange(len(units)) == first, units.sizes
        alike = (case * (int(sizes.max(initial=0)) + 1) + sizes) * 2 + is_first
        _, one, kind = np.unique(alike, return_index=True, return_inverse=True)
        per_row, more = price[case[one]], (price_of_first - price)[case[one]]
        tables = (per_row.T * sizes[one] + more.T * is_first[one]).T
        super().__init__(linked.attributes, tables, kind, numbers=units.numbers)

    def own_presence(self) -> Ints:
        """What of each unit's price says only whether it is there.

        Such a neighbour differs in every attribute below the level above the roots: any answer rules it out.
        """
        presence: Ints = self._presence_of_kinds()[self.kind]
        return presence

    def take_apart(self, presence: Ints) -> None:
        """From now on that is no part of the price; all components together have it once, as `presence`."""
        told_apart = np.ones(self.tables.shape[1:], dtype=np.int64)
        told_apart[self.heights] = 0
        self.tables = self.tables - np.multiply.outer(self._presence_of_kinds(), told_apart)
        self.presence = presence

    def _presence_of_kinds(self) -> Ints:
        height, *others = self.heights
        return np.asarray([table[(height - 1, *others)] for table in self.tables], dtype=np.int64)
