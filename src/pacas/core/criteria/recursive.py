"""Recursive (c,l)-diversity (Machanavajjhala et al. 2007): no value is much more frequent than the rare ones together.

With r₁ ≥ r₂ ≥ … ≥ r_m, how often a group's values occur: r₁ < c (r_l + … + r_m).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from pacas.core.criteria.criterion import Bools, Criterion, Number, exact, fits_64_bits, whole
from pacas.core.histogram import GroupHistogram, Ints, sum_by
from pacas.errors import InputError


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(Criterion):
    """r₁ < c (r_l + … + r_m), in whole numbers. r₁, and what the l − 1 largest have together, are convex."""

    name: ClassVar[str] = "recursive"
    strictest_of: ClassVar[str] = "c"
    strictest_is: ClassVar[str] = "holds for c above"

    c: Number
    l: int  # noqa: E741  # the literature's letter

    def __post_init__(self) -> None:
        if exact(self.c, "c") <= 0:
            raise InputError(f"c must be above 0, not {self.c}")
        object.__setattr__(self, "l", whole(self.l, "l"))

    def holds(self, histogram: GroupHistogram) -> Bools:
        c = exact(self.c, "c")
        most, rest = self._most_and_rest(histogram)
        if not fits_64_bits(int(histogram.n.sum()) * max(c.numerator, c.denominator)):
            most, rest = most.astype(object), rest.astype(object)
        return np.asarray(most * c.denominator < rest * c.numerator, dtype=np.bool_)

    def strictest(self, histogram: GroupHistogram) -> float | None:
        """What c must be above; infinite where a group has fewer than l values."""
        most, rest = self._most_and_rest(histogram)
        if not histogram.groups:
            return None
        return float((most / rest).max()) if rest.all() else inf

    @property
    def fewest_values(self) -> int:
        """Of m values, r_l + … + r_m is at most (m − l + 1) r₁: so c (m − l + 1) is above 1."""
        return int(1 / exact(self.c, "c")) + self.l

    def _most_and_rest(self, histogram: GroupHistogram) -> tuple[Ints, Ints]:
        """r₁ and r_l + … + r_m, per group."""
        order = np.lexsort((-histogram.n, histogram.group))
        group, n = histogram.group[order], histogram.n[order]
        rank = np.arange(len(order)) - np.searchsorted(group, group)
        common = rank < self.l - 1
        return n[rank == 0], sum_by(group[~common], n[~common], histogram.groups)
