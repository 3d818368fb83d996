"""A hierarchy that is suggested for a column, why, and what each of its levels hides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.core.hierarchies.balance import balance
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.suggest.coded_table import ProfiledColumn

FEW = (2, 5)
"""Numbers of values; a label that stands for fewer hides little."""

BuilderOptions = Mapping[str, object]
"""`{"build": "intervals", "widths": [10, 30]}`, as it stands in a TOML file."""


@dataclass(frozen=True, slots=True)
class HidingLevel:
    """What a level hides: how many labels it has, and how many ground values each of them stands for."""

    level: int
    labels: int
    smallest: int
    """The ground values of the label that stands for fewest."""
    median: float
    largest: int
    rows_below: Mapping[int, float]
    """Per number of `FEW`: the share of rows whose label stands for fewer ground values."""


@dataclass(frozen=True, eq=False, repr=False)
class SuggestedHierarchy:
    """A hierarchy for a column. Where `options` are given, a builder makes just this one of the column."""

    attribute: str
    how: str
    """Where its levels come from, in one line."""
    hierarchy: Hierarchy
    options: BuilderOptions | None
    """What a builder is told; None: the hierarchy has to be written as a file."""
    levels: Sequence[HidingLevel]
    """From ground up, without the root."""
    alternative: BuilderOptions | None = None
    """What else a builder could make of the column, which is not sure to mean anything."""
    is_ordered: bool = False
    """Whether its values stand in an order that means something, as numbers and dates do."""

    @property
    def is_flat(self) -> bool:
        return self.hierarchy.height == 1

    def merged(self, k: int = 2) -> Hierarchy:
        """With small families put together, so that every label above ground stands for k values, if there are k."""
        if all(level.smallest >= k for level in self.levels[1:]):
            return self.hierarchy
        return balance(self.hierarchy, 0, min(k, len(self.hierarchy.ground_labels)), in_order=self.is_ordered)

    def __repr__(self) -> str:
        return f"SuggestedHierarchy({self.attribute}: {self.how}, height={self.hierarchy.height})"


def what_levels_hide(hierarchy: Hierarchy, column: ProfiledColumn) -> list[HidingLevel]:
    """What each level below the root hides of a column's rows; values that the hierarchy lacks are left out."""
    known = [code for code, value in enumerate(column.values) if value in hierarchy]
    nodes = hierarchy.encode(column.values[code] for code in known)
    return [_hiding(hierarchy, level, nodes, column.counts[known]) for level in range(hierarchy.height)]


def _hiding(hierarchy: Hierarchy, level: int, nodes: np.ndarray, counts: Ints) -> HidingLevel:
    below = _values_below(hierarchy, level)
    sizes = below[below > 0]
    stands_for = below[hierarchy.ancestors[level, nodes]]
    rows = max(int(counts.sum()), 1)
    rows_below = {few: float(counts[stands_for < few].sum() / rows) for few in FEW}
    return HidingLevel(level, len(sizes), int(sizes.min()), float(np.median(sizes)), int(sizes.max()), rows_below)


def has_only_children(hierarchy: Hierarchy) -> bool:
    """Whether some label above ground stands for one value."""
    return any((_values_below(hierarchy, level) == 1).any() for level in range(1, hierarchy.height))


def _values_below(hierarchy: Hierarchy, level: int) -> Ints:
    """Per node how many ground values have it at a level."""
    return np.bincount(hierarchy.ancestors[level, hierarchy.is_ground], minlength=len(hierarchy)).astype(np.int64)
