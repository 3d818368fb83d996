"""A policy, as sealed quotes keep it: what is safe to tell of any row, whatever the row holds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.component import lowered
from pacas.core.possible import dearest_safe, least_left, values_left
from pacas.engine.codes import linked_keys
from pacas.engine.grouping import Ints, combine, distinct
from pacas.errors import InputError
from pacas.provider.quoter.bought_levels import BoughtLevels
from pacas.provider.quoter.priced_component import PricedComponent
from pacas.provider.quoter.public_view import PublicView

Sale = tuple[PricedComponent, int, int]
"""A component, the place of an attribute in it, and a level."""


class Guard:
    """One policy: the X-group of each row (−1: none), and how many values any answers leave a row."""

    def __init__(self, number: int, policy: Policy, view: PublicView, of: Mapping[str, PricedComponent]) -> None:
        self.policy = policy
        self._concerned = list(dict.fromkeys(of[a] for a in policy.y))
        self._least = [least_left(priced.component, policy.y_levels) for priced in self._concerned]
        keys = [linked_keys(view.index.columns[a], view.hierarchies.get(a)) for a in policy.x]
        self.group: Ints = distinct(combine(keys).key)[0]
        prices = [priced.price for priced in self._concerned]
        levels = dearest_safe(lambda at: values_left(self._least, at) >= policy.k, prices)
        if levels is None:
            raise InputError(f"policy {number} asks for k = {policy.k}, which can never hold: there are fewer values")
        self.safe_levels: dict[str, int] = {}
        """φ: what rows that are kept back are sold at."""
        for priced, at in zip(self._concerned, levels, strict=True):
            self.safe_levels |= zip(priced.component.attributes, at, strict=True)

    def values_left(self, bought: BoughtLevels) -> Ints:
        """Per row: how many Y-values at L stay possible, at the least, to who has bought at some levels."""
        left = np.ones(len(self.group), dtype=np.int64)
        for priced, least in zip(self._concerned, self._least, strict=True):
            of_unit = np.full(len(priced.units), least[priced.component.heights])
            for unit, levels in bought.units(priced).items():
                of_unit[unit] = least[levels]
            left *= of_unit[priced.units.of_row]
        return left

    def values_left_of(self, rows: Ints, bought: BoughtLevels, sale: Sale | None = None) -> Ints:
        """Of some rows alone; with one more sale, of an attribute at a level, if it is given."""
        left = np.ones(len(rows), dtype=np.int64)
        for priced, least in zip(self._concerned, self._least, strict=True):
            for number, unit in enumerate(priced.units.of_row[rows].tolist()):
                levels = bought.of(priced, unit)
                if sale is not None and sale[0] is priced:
                    levels = lowered(levels, *sale[1:])
                left[number] *= least[levels]
        return left
