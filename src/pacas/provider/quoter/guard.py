"""A policy, as sealed quotes keep it: what is safe to tell of any row, whatever the row holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.criteria.criterion import Criterion
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.component import LevelVector, lowered
from pacas.core.sealed.possible import dearest_safe, least_left, values_left
from pacas.engine.codes import linked_keys
from pacas.engine.grouping import Ints, combine, distinct
from pacas.errors import InputError
from pacas.provider.quoter.priced_component import PricedComponent
from pacas.provider.quoter.public_view import PublicView

Sale = tuple[PricedComponent, int, int]
"""A component, the place of an attribute in it, and a level."""


class Guard:
    """One policy: the X-group of each row (−1: none), and what any answers leave a row of what is `enough`.

    That is a number of values, and k; for other criteria than a number it is 1 where they hold, and 1 is enough. Where
    a row may be absent, any answer about it says whether it is, and if so, that it has no Y-value: then all components
    are concerned, and nothing is safe but to say nothing.
    """

    def __init__(self, number: int, policy: Policy, view: PublicView, of: Mapping[str, PricedComponent]) -> None:
        self.number, self.policy, self._tables = number, policy, view.tables
        self.enough = policy.must_hold.enough
        protected = list(dict.fromkeys(of[a] for a in policy.y))
        _check_linked(number, policy, len(protected))
        self._may_be_absent = protected[0].linked.may_be_absent
        others = [priced for priced in dict.fromkeys(of.values()) if self._may_be_absent and priced not in protected]
        self._concerned = protected + others
        self._least = [self._least_left(priced, policy.must_hold) for priced in protected]
        self._least += [self._least_left(priced, DistinctValues(1)) for priced in others]
        keys = [linked_keys(view.index.columns[a], view.hierarchies.get(a)) for a in policy.x]
        self.group: Ints = distinct(combine(keys).key)[0]
        self.group_sizes, self._group_numbers = view.index.counted(policy.x, True, self.group)
        self.safe_levels = self._dearest_safe()
        """φ: per attribute, and of each row, the level that it is sold at where it is kept back."""

    def _least_left(self, priced: PricedComponent, criterion: Criterion) -> Ints:
        def least() -> Ints:
            return np.stack([least_left(case, self.policy.y_levels, criterion) for case in priced.linked.cases])

        return self._tables.once(("least", self.number, priced.linked), least)

    def group_number(self, group: int) -> int:
        """By which number an X-group is known, whatever part of the index is at hand."""
        return group if self._group_numbers is None else int(self._group_numbers[group])

    def _dearest_safe(self) -> dict[str, Ints]:
        cases = np.stack([priced.case[priced.units.of_row] for priced in self._concerned])
        kinds, kind = np.unique(cases, axis=1, return_inverse=True)
        found = [self._tables.once(("safe", self.number, *of), partial(self._levels, of)) for of in kinds.T.tolist()]
        names = [a for priced in self._concerned for a in priced.linked.attributes]
        per_row = np.array(found, dtype=np.int64).reshape(len(found), len(names))[kind.ravel()]
        return dict(zip(names, per_row.T, strict=True))

    def _levels(self, cases: Sequence[int]) -> list[int]:
        """The dearest safe levels of rows that are in some cases, one a component."""
        least = [table[case] for table, case in zip(self._least, cases, strict=True)]
        prices = [priced.price_of_row[case] for priced, case in zip(self._concerned, cases, strict=True)]
        enough = partial(self._leaves_enough, least)
        nothing = tuple(priced.heights for priced in self._concerned)
        only_nothing = nothing if enough(nothing) else None
        levels = only_nothing if self._may_be_absent else dearest_safe(enough, prices)
        if levels is None:
            raise InputError(
                f"policy {self.number} asks for {self.policy.must_hold}, which can never hold, not even while nothing "
                "is sold; ask for less, or give another prior"
            )
        return [level for vector in levels for level in vector]

    def _leaves_enough(self, least: Sequence[Ints], levels: Sequence[LevelVector]) -> bool:
        return values_left(least, levels) >= self.enough

    def values_left(self, bought: BoughtLevels) -> Ints:
        """Per row: what stays possible of Y at L, at the least, to who has bought at some levels."""
        left = np.ones(len(self.group), dtype=np.int64)
        for priced, least in zip(self._concerned, self._least, strict=True):
            of_unit = least[(priced.case, *priced.heights)]
            for unit, levels in bought.touched(priced).items():
                of_unit[unit] = least[(priced.case[unit], *levels)]
            left *= of_unit[priced.units.of_row]
        return left

    def least_kept(self, bought: BoughtLevels) -> Ints:
        """Per X-group: what stays possible, at the least, of those rows that keep its secret best."""
        left = self.values_left(bought)
        rows = np.flatnonzero(self.group >= 0)
        rows = rows[np.lexsort((-left[rows], self.group[rows]))]
        sizes = np.bincount(self.group[rows])
        return np.asarray(left[rows[np.cumsum(sizes) - sizes + self.needed(sizes) - 1]])

    def needed(self, sizes: Ints) -> Ints:
        """How many rows keep the secret of X-groups of some sizes."""
        return sizes if self.policy.scope == "row" else np.minimum(self.policy.keep, sizes)

    def values_left_of(self, rows: Ints, bought: BoughtLevels, sale: Sale | None = None) -> Ints:
        """Of some rows alone; with one more sale, of an attribute at a level, if it is given."""
        left = np.ones(len(rows), dtype=np.int64)
        for priced, least in zip(self._concerned, self._least, strict=True):
            for number, unit in enumerate(priced.units.of_row[rows].tolist()):
                levels = bought.of(priced, unit)
                if sale is not None and sale[0] is priced:
                    levels = lowered(levels, *sale[1:])
                left[number] *= least[(priced.case[unit], *levels)]
        return left


def _check_linked(number: int, policy: Policy, components: int) -> None:
    """Numbers of values multiply over independent attributes; another criterion judges one distribution."""
    if components > 1 and not policy.must_hold.spans_components:
        raise InputError(
            f"policy {number}: {policy.must_hold} judges {', '.join(policy.y)} together, which no dictionary links; "
            "declare a [[dependency]] with one, or write a policy for each"
        )
