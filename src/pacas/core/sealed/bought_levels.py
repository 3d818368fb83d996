"""What one buyer has bought: of each unit, the lowest level of each attribute. Answers are not remembered."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pacas.core.sealed.component import LevelVector, lowered

Ints = NDArray[np.int64]


class NumberedUnits(Protocol):
    """The units of linked attributes: what is bought of one bears on its price in all of these."""

    @property
    def attributes(self) -> tuple[str, ...]: ...

    @property
    def heights(self) -> LevelVector:
        """The level vector at which nothing is told."""
        ...

    @property
    def numbers(self) -> Ints | None:
        """By which number each unit is known, where not all units are at hand; None: by its own."""
        ...


class BoughtLevels:
    """Level vectors by component and unit; what is not there was not bought. Units go by their numbers."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, ...], dict[int, LevelVector]] = {}

    def of(self, units: NumberedUnits, unit: int) -> LevelVector:
        """The lowest levels bought of a unit; the roots' where nothing was."""
        levels = self._levels.get(units.attributes)
        return units.heights if levels is None else levels.get(_number(units, unit), units.heights)

    def touched(self, units: NumberedUnits) -> Mapping[int, LevelVector]:
        """The units of which something was bought in this component, and the lowest levels of each."""
        levels, numbers = self._levels.get(units.attributes, {}), units.numbers
        if numbers is None:
            return levels
        return {unit: levels[number] for unit, number in enumerate(numbers.tolist()) if number in levels}

    def known(self, units: NumberedUnits) -> AbstractSet[int]:
        """Those of which something was bought in any component. Where units are rows, each is one in all of them."""
        found = {number for levels in self._levels.values() for number in levels}
        if units.numbers is None:
            return found
        return {unit for unit, number in enumerate(units.numbers.tolist()) if number in found}

    def is_known(self, units: NumberedUnits, unit: int) -> bool:
        """Was anything bought of a unit, in any component?"""
        number = _number(units, unit)
        return any(number in levels for levels in self._levels.values())

    def learn(self, units: NumberedUnits, place: int, unit: int, level: int) -> None:
        """Take in one purchase."""
        levels = self._levels.setdefault(units.attributes, {})
        levels[_number(units, unit)] = lowered(self.of(units, unit), place, level)

    def plain(self) -> list[Any]:
        """All of it in values that JSON has: of each component its attributes, the units, and the levels of each."""
        return [
            [attributes, list(levels), [list(place) for place in zip(*levels.values(), strict=True)]]
            for attributes, levels in self._levels.items()
        ]

    @classmethod
    def of_plain(cls, plain: list[Any]) -> BoughtLevels:
        """What was written so."""
        bought = cls()
        for attributes, units, places in plain:
            bought._levels[tuple(attributes)] = dict(zip(units, zip(*places, strict=True), strict=True))
        return bought


def _number(units: NumberedUnits, unit: int) -> int:
    return unit if units.numbers is None else int(units.numbers[unit])
