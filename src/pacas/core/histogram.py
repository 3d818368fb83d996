"""How often values occur, in a whole relation and in each of its groups: all that the measures need to know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
NO_ROWS: Ints = np.empty(0, dtype=np.int64)
NO_ROWS.setflags(write=False)
Values = tuple[str | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Histogram:
    """How often each combination of values occurs."""

    attributes: tuple[str, ...]
    values: list[Values]
    counts: Ints

    def column(self, attribute: str) -> list[str | None]:
        at = self.attributes.index(attribute)
        return [combination[at] for combination in self.values]

    def by_text(self) -> tuple[list[str | None], Ints]:
        """The values of its one attribute, sorted by text, a null last, and how often each occurs."""
        (attribute,) = self.attributes
        values = self.column(attribute)
        order = sorted(range(len(values)), key=lambda i: (values[i] is None, values[i] or ""))
        return [values[i] for i in order], self.counts[order]


@dataclass(frozen=True, eq=False, repr=False)
class GroupHistogram:
    """Per X-group, how often each combination of Y-values occurs: `n` rows of `group` have the Y-value `value`.

    The entries are sorted by group; `values[v]` is the combination that the number v stands for, and `overall[v]` how
    often it occurs in the whole relation. Rows with a null in X belong to no group; they are `unlinked`.
    """

    group: Ints
    value: Ints
    n: Ints
    groups: int
    values: list[Values]
    overall: Ints
    unlinked: int = 0

    @cached_property
    def sizes(self) -> Ints:
        """Rows per group."""
        return sum_by(self.group, self.n, self.groups)


Whole = NDArray[Any]
"""Whole numbers: of 64 bits, or Python's own (objects) where these do not suffice."""


def sum_by(group: Ints, values: Whole, groups: int = 0) -> Whole:
    """Exact integer sums per group (a float bincount would round beyond 2⁵³)."""
    kind = np.object_ if values.dtype == np.object_ else np.int64
    sums: Whole = np.zeros(max(groups, int(group.max()) + 1 if len(group) else 0), dtype=kind)
    np.add.at(sums, group, values)
    return sums
