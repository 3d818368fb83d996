"""Intervals that hold about equally many rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pacas.core.builders.numeric import read_numbers
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.errors import HierarchyError


def quantiles(values: Sequence[str], counts: Sequence[int], *, bins: Sequence[int] = (8, 4, 2)) -> Hierarchy:
    """One level of equal-frequency bins per number in `bins`, then the root.

    The cut points are the quantiles of the rows, linearly interpolated, and a value on a cut belongs below it, as in
    `pandas.qcut`. Each number of bins divides the one before, so a coarser level takes every so-manyth cut of the
    finer one. Quantiles that coincide are one cut: where a value is very frequent, a level has fewer bins.

    >>> list(quantiles(["1", "2", "3", "9"], [1, 1, 1, 1], bins=[4, 2]).rows())[2]
    ('3', '[3,3]', '[3,9]', '*')
    """
    column = read_numbers(values)
    _check_bins(bins)
    rows_up_to = np.cumsum(column.totals(counts))
    return column.hierarchy([column.split_after(_cuts(rows_up_to, many)) for many in bins])


def _check_bins(bins: Sequence[int]) -> None:
    if not bins or min(bins) < 2:
        raise HierarchyError("bins must name at least one number of bins, each 2 or more, e.g. bins = [8, 4, 2]")
    if any(fewer >= more or more % fewer for more, fewer in pairwise(bins)):
        raise HierarchyError("bins must decrease, each dividing the one before, e.g. bins = [8, 4, 2]")


def _cuts(rows_up_to: Ints, many: int) -> list[int]:
    """The ranks after which a bin ends.

    The i-th quantile lies between two neighbouring rows, at `i (n - 1) / many`; no value lies strictly between them,
    so the rank of the lower row decides the cut and nothing needs to be interpolated.
    """
    steps = np.array([divmod(i * (int(rows_up_to[-1]) - 1), many) for i in range(1, many)], dtype=np.int64)
    row, rest = steps[:, 0], steps[:, 1]
    below = np.searchsorted(rows_up_to, row, side="right")
    above = np.searchsorted(rows_up_to, row + (rest > 0), side="right")
    return sorted(set(below[above > 0].tolist()))  # a quantile equal to the minimum coincides with the first edge
