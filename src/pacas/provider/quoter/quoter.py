"""The quoter: it prices and refuses, and has seen nothing but the public view.

A price is the difference of two entries of a public table (`core.sealed.coverage`), times the rows of the unit; a
refusal is a level below which a unit is not sold to anybody (`core.sealed.possible`, `reserving`). What a buyer has
bought counts by its levels, never by the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pacas.core.money import credits_text
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.coverage import apportion, price_tables
from pacas.engine.grouping import Ints, Mask
from pacas.errors import InputError
from pacas.protocol.messages import Request
from pacas.provider.matching import Matcher
from pacas.provider.quoter.guard import Guard
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.open_rows import OpenRows
from pacas.provider.quoter.priced_component import PricedComponent
from pacas.provider.quoter.public_view import PublicView, Reserve
from pacas.provider.quoter.reserving import reserved_units
from pacas.provider.quoter.sold_attribute import SoldAttribute, UnitFinder
from pacas.provider.quoter.units import Draw, Units, public_draw

LEAST_OF_A_CELL = 100
"""Nanocredits that a cell costs at least, so that levels have prices of their own."""


class SoldBefore(NamedTuple):
    """A unit that was sold from another ledger: to whom, and at which level."""

    buyer: str
    attribute: str
    unit: int
    level: int


def known_units(found: Ints) -> list[int]:
    """The units that a request told of which was paid for before: there must be one, or it could not be counted."""
    if not len(found):
        raise InputError("sold_before: what was sold finds nobody now; match people by what they were matched by then")
    return sorted(set(found.tolist()))


class Quoter:
    """Everything that a free question is answered from.

    `bought` are requests that buyers have paid for before, from another ledger: levels sold stay sold.
    """

    def __init__(self, view: PublicView, bought: Sequence[tuple[str, Request]] = ()) -> None:
        self.view = view
        self.components = _priced(view)
        of = {a: priced for priced in self.components for a in priced.linked.attributes}
        self.sold: Mapping[str, SoldAttribute] = {
            a: SoldAttribute(a, of[a], view.max_matches, view.floor.get(a, 0)) for a in view.match
        }
        self.sold_before = [sold for buyer, request in bought for sold in self._sold_before(buyer, request)]
        self.guards = [Guard(number, policy, view, of) for number, policy in enumerate(view.policies, start=1)]
        self.watched = [g for g in self.guards if view.reserve is Reserve.LAST and g.policy.scope == "group"]
        """The policies that keep back what is left last, and so depend on what all buyers have bought."""
        self.reserved = self._reserve()
        """By policy, but for those: the rows that it keeps back."""

    @cached_property
    def finders(self) -> Mapping[str, UnitFinder]:
        """Where requests find units, in an index that is held."""
        index, trees = self.view.index, self.view.hierarchies
        matchers = {md: Matcher(md, index.columns, trees) for md in set(self.view.match.values())}
        return {a: UnitFinder(matchers[md], self.sold[a]) for a, md in self.view.match.items()}

    def _sold_before(self, buyer: str, request: Request) -> Iterator[SoldBefore]:
        """What a request told of: each unit that it found, all of which had the answer."""
        for unit in known_units(self.finders[request.attribute].all_found(request)):
            yield SoldBefore(buyer, request.attribute, unit, request.level)

    def _open_before(self, guard: Guard) -> Mask:
        """Per row: is enough left of it for a policy, by what was sold before?"""
        pooled = BoughtLevels()
        for one in self.sold_before:
            pooled.learn(self.sold[one.attribute].priced, self.sold[one.attribute].place, one.unit, one.level)
        return np.asarray(guard.values_left(pooled) >= guard.enough)

    def _reserve(self) -> dict[int, Mask]:
        """Keep back what policies need, below the levels that are safe whatever the answer is."""
        draws = {priced: public_draw(self.view.salt, self.view.index, priced.units) for priced in self.components}
        reserved = {}
        for guard in (guard for guard in self.guards if guard not in self.watched):
            reserved[guard.number] = rows = self._reserved_rows(guard, draws)
            for attribute in self.guarded(guard):
                units = self.sold[attribute].priced.units.of_row[rows]
                np.maximum.at(self.sold[attribute].floor, units, guard.safe_levels[attribute][rows])
        return reserved

    def guarded(self, guard: Guard) -> list[str]:
        """The attributes that a policy may keep back: those for sale that tell of what it protects."""
        return [attribute for attribute in guard.safe_levels if attribute in self.sold]

    def safe_levels(self, policy: int) -> dict[str, tuple[int, ...]]:
        """φ: the levels below which rows that a policy keeps back are not sold, by what a row can be; none is safe
        where even that a row is there would tell."""
        guard = self.guards[policy - 1]
        levels = {a: np.unique(guard.safe_levels[a]) for a in self.guarded(guard)}
        return {a: tuple(found[found <= self.sold[a].height].tolist()) for a, found in levels.items()}

    def _reserved_rows(self, guard: Guard, draws: Mapping[PricedComponent, Draw]) -> Mask:
        """The rows that a policy keeps back: a draw by units of the first attribute that is sold of its components.

        Units have one lot for all policies: what one keeps back serves the next.
        """
        rows, sold = self.view.index.rows, self.guarded(guard)
        if not sold or guard.policy.scope == "row":
            return np.full(rows, bool(sold))
        if (kept := self.view.index.kept_back(guard.number)) is not None:
            return kept
        priced = self.sold[sold[0]].priced
        units = priced.units
        unsold = np.ones(rows, dtype=np.bool_)
        for attribute in sold:
            together = self.finders[attribute].matcher.together
            found = self.sold[attribute]
            unsold &= ~found.can_be_bought(together)[found.priced.units.of_row]
        group = np.where(self._open_before(guard), guard.group, -1) if self.sold_before else guard.group
        return reserved_units(group, units.of_row, guard.policy.keep, draws[priced], unsold)[units.of_row]

    def prices(self, attribute: str, units: Ints, bought: BoughtLevels) -> Ints:
        """What units cost a buyer at all levels, with what it has bought of them before; 0 where there is none."""
        sold = self.sold[attribute]
        return sold.priced.prices(units, sold.place, sold.height + 1, bought)

    def price(self, attribute: str, unit: int, level: int, bought: BoughtLevels) -> int:
        """What one unit costs a buyer at a level, with what it has bought of it before."""
        sold = self.sold[attribute]
        return sold.priced.price(unit, sold.place, level, bought)

    def floors(self, attribute: str, units: Ints, opened: OpenRows) -> Ints:
        """From which level on units are sold; `opened` matters where a policy keeps back what is left last."""
        floors = self.sold[attribute].floor[units].astype(np.int64)
        some = np.flatnonzero(units >= 0)
        if self.watched:
            floors[some] = np.maximum(floors[some], opened.floors(self.watched, self.sold[attribute], units[some]))
        floors[units < 0] = 0
        return floors

    def floor(self, attribute: str, unit: int, opened: OpenRows) -> int:
        """From which level on one unit is sold."""
        if unit < 0:
            return 0
        sold = self.sold[attribute]
        kept_back = int(sold.floor[unit])
        return max(kept_back, opened.floor(self.watched, sold, unit)) if self.watched else kept_back


def _priced(view: PublicView) -> list[PricedComponent]:
    """What every component costs: the total over attributes, rows and levels, to the nanocredit."""
    names = [a for component in view.components for a in component.attributes]
    told = [Fraction(str(view.sensitivity.get(a, 1))) * view.component_of(a).can_differ(a) for a in names]
    if not any(told):
        raise InputError("nothing to sell: no sold attribute can have two values; give it a hierarchy that has")
    weight_of = dict(zip(names, apportion(view.total, told), strict=True))
    rows = max(view.index.in_all, 1)
    _check_total(view, weight_of, told, rows)
    first = row_with_the_rest(view)
    priced = []
    for component in view.components:
        share = {a: weight_of[a] // rows for a in component.attributes}
        more = {a: share[a] + weight_of[a] % rows for a in component.attributes}
        units = Units(view.index, view.left.get(component.attributes[0], ()))
        price, of_first = _price_tables(view, component, [share, more])
        holder = int(units.of_row[first]) if first >= 0 else -1
        case = _case_of_units(component, units, view)
        priced.append(PricedComponent(component, units, case, price, of_first, holder))
    if view.components[0].may_be_absent:
        presence = np.sum([one.own_presence() for one in priced], axis=0)
        for one in priced:
            one.take_apart(presence)
    return priced


def _price_tables(view: PublicView, linked: LinkedAttributes, weightings: Sequence[Mapping[str, int]]) -> list[Ints]:
    """What level vectors cost of one row, case by case; per weighting of the attributes."""

    def tables() -> list[Ints]:
        by_case = [price_tables(case, weightings, view.spread) for case in linked.cases]
        return [np.stack(cases) for cases in zip(*by_case, strict=True)]

    return view.tables.once(("prices", linked), tables)


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
    """The row that has what does not divide: the first in the order of all its texts; −1 if there is none."""
    return view.index.first_row


def _case_of_units(linked: LinkedAttributes, units: Units, view: PublicView) -> Ints:
    """Per unit its case: all its rows have one, or what they have in common could not be told."""
    of_row = linked.case_of_rows(view.index)
    case = np.zeros(len(units), dtype=np.int64)
    case[units.of_row] = of_row
    if (case[units.of_row] != of_row).any():
        left, given = (", ".join(names) for names in (view.left[linked.attributes[0]], linked.given))
        raise InputError(
            f"{left} ties rows that differ in {given}, by which a dictionary has other tuples; add {given} to it"
        )
    return case
