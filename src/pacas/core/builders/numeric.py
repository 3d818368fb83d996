"""Columns of numbers, cut into bins: what the four numeric builders share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import isfinite

import numpy as np

from pacas.core.hierarchy import ROOT, Hierarchy, canonical_number
from pacas.core.histogram import Ints
from pacas.errors import HierarchyError


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column's distinct numbers, ascending, and the rank that each given value has among them."""

    labels: list[str]
    rank: Ints

    def totals(self, counts: Sequence[int]) -> Ints:
        """How many rows each distinct number has."""
        return np.bincount(self.rank, weights=counts, minlength=len(self.labels)).astype(np.int64)

    def split_after(self, cuts: Sequence[int]) -> list[str]:
        """The label of each distinct number's bin, when bins end after the ranks in `cuts` (ascending).

        A bin is named by its smallest and largest number, so one that stands on several levels is one node.
        """
        edges = [0, *(cut + 1 for cut in cuts if cut + 1 < len(self.labels)), len(self.labels)]
        bins = []
        for first, end in pairwise(edges):
            bins += [f"[{self.labels[first]},{self.labels[end - 1]}]"] * (end - first)
        return bins

    def hierarchy(self, levels: Sequence[Sequence[str]]) -> Hierarchy:
        """The hierarchy with these levels, each one label per distinct number, and the root."""
        roots = [ROOT] * len(self.labels)
        return Hierarchy.from_rows(zip(self.labels, *levels, roots, strict=True), numeric=True)


def read_numbers(values: Sequence[str]) -> NumericColumn:
    """The values as numbers; values that are not numbers are counted in an error, never shown."""
    if not values:
        raise HierarchyError("no values to build a hierarchy from")
    labels = [canonical_number(v) for v in values]
    numbers = {label: _number(label) for label in dict.fromkeys(labels)}
    wrong = sum(numbers[label] is None for label in labels)
    if wrong:
        raise HierarchyError(f"{wrong:,} of {len(values):,} values are not numbers; intervals need a numeric attribute")
    ordered = sorted(numbers, key=lambda label: (numbers[label], label))
    place = {label: rank for rank, label in enumerate(ordered)}
    return NumericColumn(ordered, np.array([place[label] for label in labels], dtype=np.int64))


def class_codes(targets: Sequence[str]) -> Ints:
    """The target classes as numbers 0, 1, … in alphabetical order, so that row order never matters."""
    place = {target: code for code, target in enumerate(sorted(set(targets)))}
    return np.array([place[target] for target in targets], dtype=np.int64)


def _number(label: str) -> tuple[float, Decimal] | None:
    """What orders numbers: the float, and where floats cannot tell two apart, the exact decimal."""
    try:
        number = float(label)
    except ValueError:
        return None
    return (number, Decimal(label)) if isfinite(number) else None
