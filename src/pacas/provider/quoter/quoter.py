"""The quoter: it prices and refuses, and has seen nothing but the public view.

A price is the difference of two entries of a public table (`core.coverage`), times the rows of the unit; a refusal is a
level below which a unit is not sold to anybody (`core.possible`, `reserving`). What a buyer has bought counts by its
levels, never by the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pacas.core.component import Component, lowered
from pacas.core.coverage import apportion, price_table
from pacas.core.money import credits_text
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.provider.matching import Matcher
from pacas.provider.quoter.bought_levels import BoughtLevels
from pacas.provider.quoter.guard import Guard
from pacas.provider.quoter.open_rows import OpenRows
from pacas.provider.quoter.priced_component import PricedComponent
from pacas.provider.quoter.public_view import PublicView, Reserve
from pacas.provider.quoter.reserving import drawn, reserved_units
from pacas.provider.quoter.sold_attribute import SoldAttribute
from pacas.provider.quoter.units import Units

Mask = NDArray[np.bool_]

LEAST_OF_A_CELL = 100
"""Nanocredits that a cell costs at least, so that levels have prices of their own."""


class Quoter:
    """Everything that a free question is answered from."""

    def __init__(self, view: PublicView) -> None:
        self.view = view
        self.components = _priced(view)
        of = {a: priced for priced in self.components for a in priced.component.attributes}
        matchers = {md: Matcher(md, view.index.columns, view.hierarchies) for md in set(view.match.values())}
        self.sold: Mapping[str, SoldAttribute] = {
            a: SoldAttribute(a, of[a], matchers[md], view.max_matches) for a, md in view.match.items()
        }
        self.guards = [Guard(number, policy, view, of) for number, policy in enumerate(view.policies, start=1)]
        for number, guard in enumerate(self.guards, start=1):
            if guard not in self._watched:
                self._reserve(number, guard)

    @property
    def _watched(self) -> list[Guard]:
        """The policies that keep back what is left last, and so depend on what all buyers have bought."""
        if self.view.reserve is not Reserve.LAST:
            return []
        return [guard for guard in self.guards if guard.policy.scope == "group"]

    def all_open(self) -> OpenRows:
        """The rows as they are before anything is sold."""
        return OpenRows(self._watched, self.sold)

    def _reserve(self, number: int, guard: Guard) -> None:
        """Keep back what a policy needs, below the levels that are safe whatever the answer is."""
        sold = [a for a in guard.safe_levels if a in self.sold]
        rows = self._reserved_rows(number, guard, sold)
        for attribute in sold:
            units = self.sold[attribute].priced.units.of_row[rows]
            np.maximum.at(self.sold[attribute].floor, units, guard.safe_levels[attribute])

    def _reserved_rows(self, number: int, guard: Guard, sold: Sequence[str]) -> Mask:
        """The rows that a policy keeps back: a draw by units of the first attribute that is sold of its components."""
        rows = self.view.index.rows
        if not sold or guard.policy.scope == "row":
            return np.full(rows, bool(sold))
        units = self.sold[sold[0]].priced.units
        unsold = np.ones(rows, dtype=np.bool_)
        for attribute in sold:
            found = self.sold[attribute]
            unsold &= ~found.can_be_bought()[found.priced.units.of_row]
        draws = drawn(self.view.salt, f"reserve {number}", len(units))
        return reserved_units(guard.group, units.of_row, guard.policy.keep, draws, unsold)[units.of_row]

    def prices(self, attribute: str, units: Ints, bought: BoughtLevels) -> Ints:
        """What units cost a buyer at all levels, with what it has bought of them before; 0 where there is none."""
        sold = self.sold[attribute]
        some = np.flatnonzero(units >= 0)
        prices = np.zeros((len(units), sold.height + 1), dtype=np.int64)
        prices[some] = sold.priced.ladders(units[some], sold.place)
        touched = bought.units(sold.priced)
        if touched:
            for number, unit in enumerate(units.tolist()):
                if unit in touched:
                    prices[number] = [self.price(attribute, unit, level, bought) for level in range(sold.height + 1)]
        return prices

    def price(self, attribute: str, unit: int, level: int, bought: BoughtLevels) -> int:
        """What one unit costs a buyer at a level, with what it has bought of it before."""
        sold = self.sold[attribute]
        if unit < 0:
            return 0
        now = bought.of(sold.priced, unit)
        return sold.priced.worth(unit, lowered(now, sold.place, level)) - sold.priced.worth(unit, now)

    def floors(self, attribute: str, units: Ints, opened: OpenRows) -> Ints:
        """From which level on units are sold; `opened` matters where a policy keeps back what is left last."""
        floors = self.sold[attribute].floor[units].astype(np.int64)
        some = np.flatnonzero(units >= 0)
        if opened.is_watching:
            floors[some] = np.maximum(floors[some], opened.floors(attribute, units[some]))
        floors[units < 0] = 0
        return floors

    def floor(self, attribute: str, unit: int, opened: OpenRows) -> int:
        """From which level on one unit is sold."""
        if unit < 0:
            return 0
        kept_back = int(self.sold[attribute].floor[unit])
        return max(kept_back, opened.floor(attribute, unit)) if opened.is_watching else kept_back


def _priced(view: PublicView) -> list[PricedComponent]:
    """What every component costs: the total over attributes, rows and levels, to the nanocredit."""
    names = [a for component in view.components for a in component.attributes]
    told = [Fraction(str(view.sensitivity.get(a, 1))) * _can_be_told(view.component_of(a), a) for a in names]
    if not any(told):
        raise InputError("nothing to sell: no sold attribute can have two values; give it a hierarchy that has")
    weight_of = dict(zip(names, apportion(view.total, told), strict=True))
    rows = max(view.index.rows, 1)
    _check_total(view, weight_of, told, rows)
    first = row_with_the_rest(view)
    priced = []
    for component in view.components:
        share = {a: weight_of[a] // rows for a in component.attributes}
        more = {a: share[a] + weight_of[a] % rows for a in component.attributes}
        units = Units(view.index, view.left.get(component.attributes[0], ()))
        price, of_first = (price_table(component, weights, view.spread) for weights in (share, more))
        holder = int(units.of_row[first]) if first >= 0 else -1
        priced.append(PricedComponent(component, units, price, of_first, holder))
    return priced


def _check_total(view: PublicView, weight_of: Mapping[str, int], told: Sequence[Fraction], rows: int) -> None:
    """An error if a cell would cost less than whole nanocredits can tell apart; it names a total that suffices."""
    least = min(weight_of[a] // rows for a, share in zip(weight_of, told, strict=True) if share)
    if least < LEAST_OF_A_CELL:
        smallest = min(share for share in told if share)
        enough = -(-LEAST_OF_A_CELL * (rows + 1) * sum(told) // smallest)
        raise InputError(
            f"a total of {credits_text(view.total)} credits is too small: a cell would cost {least} nanocredits, under "
            f"the {LEAST_OF_A_CELL} it needs; a total of {credits_text(int(enough))} credits suffices"
        )


def row_with_the_rest(view: PublicView) -> int:
    """The row that has what does not divide, drawn in public; −1 if there is none."""
    key = view.index.keys(sorted(view.index.columns))
    return int(np.argmin(drawn(view.salt, "rest", int(key.max()) + 1)[key])) if len(key) else -1


def _can_be_told(component: Component, attribute: str) -> bool:
    """Can two tuples differ in an attribute?"""
    ground = component.paths[component.attributes.index(attribute)][0]
    return bool((ground != ground[0]).any())
