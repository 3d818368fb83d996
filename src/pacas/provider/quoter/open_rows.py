"""`reserve = "last"`: rows are open until too few of their X-group would be left; what is open depends on levels alone.

A row is *open* for a policy while all that was sold of it, to anybody, leaves it k values whatever the answers were.
Every X-group keeps `keep` open rows, or all it has: a sale that would close one more is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from pacas.engine.grouping import Ints
from pacas.provider.quoter.bought_levels import BoughtLevels
from pacas.provider.quoter.guard import Guard
from pacas.provider.quoter.sold_attribute import SoldAttribute


class OpenRows:
    """Which rows are open, by the levels sold to all buyers together."""

    def __init__(self, guards: Sequence[Guard], sold: Mapping[str, SoldAttribute]) -> None:
        self._guards, self._sold = guards, sold
        self._pooled = BoughtLevels()
        self._open = [np.bincount(guard.group[guard.group >= 0]) for guard in guards]
        self._needed = [np.minimum(guard.policy.keep, sizes) for guard, sizes in zip(guards, self._open, strict=True)]

    @property
    def is_watching(self) -> bool:
        """Is there a policy that asks?"""
        return bool(self._guards)

    def floors(self, attribute: str, units: Ints) -> Ints:
        """From which level on each of some units may be sold."""
        found = {int(unit): 0 for unit in np.unique(units)}
        for unit in found:
            found[unit] = self.floor(attribute, unit)
        return np.array([found[unit] for unit in units.tolist()], dtype=np.int64)

    def learn(self, attribute: str, unit: int, level: int) -> None:
        """Take in one purchase of a unit."""
        for number, guard in enumerate(self._guards):
            for group, rows in self._closed(guard, attribute, unit, level).items():
                self._open[number][group] -= rows
        sold = self._sold[attribute]
        self._pooled.learn(sold.priced, sold.place, unit, level)

    def floor(self, attribute: str, unit: int) -> int:
        """From which level on a unit may be sold."""
        floor, height = 0, self._sold[attribute].height
        for number, guard in enumerate(self._guards):
            while floor < height and not self._leaves_enough(number, guard, attribute, unit, floor):
                floor += 1
        return floor

    def _leaves_enough(self, number: int, guard: Guard, attribute: str, unit: int, level: int) -> bool:
        closed = self._closed(guard, attribute, unit, level)
        return all(self._open[number][group] - rows >= self._needed[number][group] for group, rows in closed.items())

    def _closed(self, guard: Guard, attribute: str, unit: int, level: int) -> Counter[int]:
        """How many rows of each X-group are open now, and would not be after a sale."""
        if attribute not in guard.safe_levels:
            return Counter()
        sold = self._sold[attribute]
        rows = sold.priced.units.rows.one(unit)
        k = guard.policy.k
        before = guard.values_left_of(rows, self._pooled)
        after = guard.values_left_of(rows, self._pooled, (sold.priced, sold.place, level))
        groups = guard.group[rows[(before >= k) & (after < k)]]
        return Counter(groups[groups >= 0].tolist())
