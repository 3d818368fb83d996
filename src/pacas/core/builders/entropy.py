"""Intervals that tell the classes of another attribute apart, found top-down.

Fayyad & Irani, Multi-interval discretization of continuous-valued attributes for classification learning, IJCAI 1993:
cut where the class entropy of the two halves is least, as long as the cut pays for its own description (MDL), and
recurse into both halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pacas.core.builders.numeric import class_codes, read_numbers
from pacas.core.distance import Floats
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.errors import HierarchyError


def entropy(
    values: Sequence[str], targets: Sequence[str], counts: Sequence[int], *, max_levels: int | None = None
) -> Hierarchy:
    """Level 1 has all cuts that pay; each level above drops those made deepest in the recursion; then the root.

    With `max_levels`, level 1 stays and the levels above it are spread evenly over the recursion. Where no cut pays,
    the values stand right under the root.

    >>> list(entropy(["1", "2", "3", "4"], ["no", "no", "yes", "yes"], [9, 9, 9, 9]).rows())[0]
    ('1', '[1,2]', '*')
    """
    if max_levels is not None and max_levels < 1:
        raise HierarchyError("max_levels must be 1 or more")
    column = read_numbers(values)
    cuts = _cuts(_tabulate(column.rank, class_codes(targets), np.asarray(counts, dtype=np.int64)))
    levels = []
    for depth in _depths(max((depth for _, depth in cuts), default=0), max_levels):
        levels.append(column.split_after(sorted(rank for rank, at in cuts if at <= depth)))
    return column.hierarchy(levels)


def _depths(deepest: int, max_levels: int | None) -> list[int]:
    """For each level from the finest: the depth of the deepest cuts that it keeps."""
    if max_levels is None or max_levels >= deepest:
        return list(range(deepest, 0, -1))
    spread = np.rint(np.linspace(deepest, 1, max_levels)).astype(int).tolist()
    return list(dict.fromkeys(spread))


@dataclass(frozen=True, slots=True)
class _ContingencyTable:
    """The contingency table as entries (rank, class, rows), sorted by rank; `before`: rows of that class before it."""

    rank: Ints
    target: Ints
    rows: Ints
    before: Ints


def _tabulate(ranks: Ints, targets: Ints, counts: Ints) -> _ContingencyTable:
    classes = int(targets.max(initial=-1)) + 1
    cells, cell_of = np.unique(ranks * classes + targets, return_inverse=True)
    rows = np.bincount(cell_of, weights=counts).astype(np.int64)
    rank, target = cells // max(classes, 1), cells % max(classes, 1)
    by_class = np.argsort(target, kind="stable")
    running = np.cumsum(rows[by_class]) - rows[by_class]
    before = np.empty_like(rows)
    before[by_class] = running
    return _ContingencyTable(rank, target, rows, before)


def _cuts(table: _ContingencyTable) -> list[tuple[int, int]]:
    """The accepted cuts, as (rank before the cut, depth in the recursion from 1)."""
    cuts = []
    todo = [(0, len(table.rank), 1)]
    while todo:
        first, end, depth = todo.pop()
        cut = _best_cut(table, first, end)
        if cut is not None:
            cuts.append((int(table.rank[cut - 1]), depth))
            todo += [(first, cut, depth + 1), (cut, end, depth + 1)]
    return cuts


def _best_cut(table: _ContingencyTable, first: int, end: int) -> int | None:
    """The entry that starts the right half of the best cut of entries first…end, if that cut pays.

    One pass: `n·H` of a half is `xlogx(n)` less the sum of `xlogx` over its classes, and each entry changes one term.
    Cuts that tie go to the lowest.
    """
    part = slice(first, end)
    ends = np.flatnonzero(np.diff(table.rank[part]))
    if len(ends) == 0:
        return None
    rows, before = table.rows[part], table.before[part]
    _, opening, of = np.unique(table.target[part], return_index=True, return_inverse=True)
    total = np.bincount(of, weights=rows)
    left = before - before[opening][of]
    right = total[of] - left
    n, n_left = rows.sum(), np.cumsum(rows)[ends]
    bits = _xlogx(n) - _xlogx(total).sum()
    bits_left = _xlogx(n_left) - np.cumsum(_xlogx(left + rows) - _xlogx(left))[ends]
    bits_right = _xlogx(n - n_left) - _xlogx(total).sum() - np.cumsum(_xlogx(right - rows) - _xlogx(right))[ends]
    both = bits_left + bits_right
    best = int(np.argmax(both <= both.min() + 1e-12 * _xlogx(n)))
    classes = len(total), np.sum(left[: ends[best] + 1] == 0), len(total) - np.sum((right == rows)[: ends[best] + 1])
    mean_bits = bits / n, bits_left[best] / n_left[best], bits_right[best] / (n - n_left[best])
    gain = bits - both[best]
    return first + int(ends[best]) + 1 if gain > np.log2(n - 1) + _description(classes, mean_bits) else None


def _description(classes: tuple[int, int, int], bits: tuple[float, float, float]) -> float:
    """Δ of the MDL criterion, for a set and its two halves: `log2(3^k - 2) - (k·H - k1·H1 - k2·H2)`."""
    whole, left, right = (k * h for k, h in zip(classes, bits, strict=True))
    k = classes[0]
    return float(k * np.log2(3) + np.log2(1 - 2 * 3.0**-k)) - (whole - left - right)


def _xlogx(x: Ints | Floats) -> Floats:
    return np.asarray(x * np.log2(np.maximum(x, 1)), dtype=np.float64)
