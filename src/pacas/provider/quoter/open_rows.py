"""`reserve = "last"`: rows are open until too few of their X-group would be left; what is open depends on levels alone.

A row is *open* for a policy while all that was sold of it, to anybody, leaves it enough whatever the answers were.
Every X-group keeps `keep` open rows, or all it has: a sale that would close one more is refused.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.engine.grouping import Ints
from pacas.provider.quoter.guard import Guard
from pacas.provider.quoter.sold_attribute import SoldAttribute


class OpenRows:
    """Which rows are open, by the levels sold to all buyers together: of each X-group, how many are not any more."""

    def __init__(self) -> None:
        self.pooled = BoughtLevels()
        """What all buyers have bought together."""
        self._closed: defaultdict[int, Counter[int]] = defaultdict(Counter)
        """By policy and X-group."""

    def floors(self, guards: Sequence[Guard], sold: SoldAttribute, units: Ints) -> Ints:
        """From which level on each of some units may be sold, to keep what some policies ask for."""
        found = {int(unit): 0 for unit in np.unique(units)}
        for unit in found:
            found[unit] = self.floor(guards, sold, unit)
        return np.array([found[unit] for unit in units.tolist()], dtype=np.int64)

    def learn(self, guards: Sequence[Guard], sold: SoldAttribute, unit: int, level: int) -> None:
        """Take in one purchase of a unit."""
        for guard in guards:
            for group, rows in self._closed_by(guard, sold, unit, level).items():
                self._closed[guard.number][guard.group_number(group)] += rows
        self.pooled.learn(sold.priced, sold.place, unit, level)

    def plain(self) -> list[Any]:
        """All of it in values that JSON has."""
        closed = [[p, group, rows] for p, groups in self._closed.items() for group, rows in groups.items()]
        return [self.pooled.plain(), closed]

    @classmethod
    def of_plain(cls, plain: list[Any]) -> OpenRows:
        """What was written so."""
        opened = cls()
        opened.pooled = BoughtLevels.of_plain(plain[0])
        for policy, group, rows in plain[1]:
            opened._closed[policy][group] = rows
        return opened

    def closed(self, policy: int) -> int:
        """How many rows of a policy's X-groups are not open any more."""
        return self._closed[policy].total()

    def floor(self, guards: Sequence[Guard], sold: SoldAttribute, unit: int) -> int:
        """From which level on a unit may be sold."""
        floor = 0
        for guard in guards:
            while floor < sold.top and not self._leaves_enough(guard, sold, unit, floor):
                floor += 1
        return floor

    def _leaves_enough(self, guard: Guard, sold: SoldAttribute, unit: int, level: int) -> bool:
        closed = self._closed[guard.number]
        for group, rows in self._closed_by(guard, sold, unit, level).items():
            size = int(guard.group_sizes[group])
            if size - closed[guard.group_number(group)] - rows < min(guard.policy.keep, size):
                return False
        return True

    def _closed_by(self, guard: Guard, sold: SoldAttribute, unit: int, level: int) -> Counter[int]:
        """How many rows of each X-group are open now, and would not be after a sale."""
        if sold.attribute not in guard.safe_levels:
            return Counter()
        rows = sold.priced.units.rows.one(unit)
        before = guard.values_left_of(rows, self.pooled)
        after = guard.values_left_of(rows, self.pooled, (sold.priced, sold.place, level))
        groups = guard.group[rows[(before >= guard.enough) & (after < guard.enough)]]
        return Counter(groups[groups >= 0].tolist())
