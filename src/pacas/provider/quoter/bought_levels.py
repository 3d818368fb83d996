"""What one buyer has bought: of each unit, the lowest level of each attribute. Answers are not remembered."""

from __future__ import annotations

from collections.abc import Mapping

from pacas.core.component import LevelVector, lowered
from pacas.provider.quoter.priced_component import PricedComponent


class BoughtLevels:
    """Level vectors by component and unit; what is not there was not bought."""

    def __init__(self) -> None:
        self._levels: dict[PricedComponent, dict[int, LevelVector]] = {}

    def of(self, priced: PricedComponent, unit: int) -> LevelVector:
        """The lowest levels bought of a unit; the roots' where nothing was."""
        return self.units(priced).get(unit, priced.component.heights)

    def units(self, priced: PricedComponent) -> Mapping[int, LevelVector]:
        """The units of a component of which something was bought, and the lowest levels of each."""
        return self._levels.get(priced, {})

    def learn(self, priced: PricedComponent, place: int, unit: int, level: int) -> None:
        """Take in one purchase."""
        self._levels.setdefault(priced, {})[unit] = lowered(self.of(priced, unit), place, level)

    def worth(self) -> int:
        """What all of it costs together, in whatever order it was bought."""
        return sum(priced.worth(unit, at) for priced, units in self._levels.items() for unit, at in units.items())
