"""How many neighbours a cell needs, so that a paper provider can keep a policy and still sell.

With the paper's quotes only neighbours hide a value (`support = { per_cell = 10 }`), spread over the levels at which
they first agree with it; an answer at a level leaves those that agree there. So `per_cell` caps k, and nothing says so
but refusals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pacas.core.hierarchy import Hierarchy

MOST = 1_000
"""Beyond this many neighbours a cell, none are proposed."""

Families = tuple[tuple[int, ...], ...]
"""Per level, from 1 on, the candidates that first agree with a value there: how many of each label at L, largest first.

Those that agree at L or below have the value's own label; they take their part of the neighbours, and add no label."""


def per_cell_for(hierarchy: Hierarchy, k: int, level: int, sold_at: int) -> int | None:
    """The fewest neighbours a cell with which every value is for sale at `sold_at`, even to an X-group of one row.

    With them k labels at `level` are left, the value's own among them, wherever the draw falls. None: no number up to
    `MOST` does it.

    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> per_cell_for(med, 2, 0, 2), per_cell_for(med, 3, 0, 2), per_cell_for(med, 2, 0, 1)
    (1, 2, None)
    """
    kinds = {_families(hierarchy, level, value) for value in _unlike_values(hierarchy, level)}
    suffices = partial(_all_left, kinds, k, level, sold_at)
    if not suffices(MOST):
        return None
    low, high = 0, MOST
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _all_left(kinds: set[Families], k: int, level: int, sold_at: int, per_cell: int) -> bool:
    return all(_labels_left(families, level, sold_at, per_cell) >= k for families in kinds)


def _labels_left(families: Families, level: int, sold_at: int, per_cell: int) -> int:
    """Labels at L that an answer leaves at the least: the own one, and those of the neighbours that agree with it."""
    there = [at for at, sizes in enumerate(families, start=1) if sizes]
    even, rest = divmod(per_cell, max(len(there), 1))
    left = 1
    for above, at in enumerate(reversed(there)):  # where it does not divide, higher levels get one more
        if level < at <= sold_at:
            left += _labels_of(families[at - 1], even + (above < rest))
    return left


def _labels_of(sizes: Sequence[int], drawn: int) -> int:
    """How many labels so many different candidates have at the least: as few as hold them all."""
    return int(np.searchsorted(np.cumsum(sizes), min(drawn, sum(sizes)))) + 1 if drawn else 0


def _unlike_values(hierarchy: Hierarchy, level: int) -> list[int]:
    """Of ground values with one label at L, and candidates at the same levels below, one."""
    ground = np.flatnonzero(hierarchy.is_ground)
    paths = hierarchy.ancestors[:, ground]
    sizes = np.stack([np.bincount(path, minlength=len(hierarchy))[path] for path in paths])
    kind = np.vstack([paths[level], np.diff(sizes[: level + 1], axis=0) > 0])
    _, first = np.unique(kind, axis=1, return_index=True)
    return [int(value) for value in ground[first]]


def _families(hierarchy: Hierarchy, level: int, value: int) -> Families:
    ground = np.flatnonzero(hierarchy.is_ground)
    found = []
    for at in range(1, hierarchy.height + 1):
        above, below = hierarchy.ancestors[at, ground], hierarchy.ancestors[at - 1, ground]
        mine = (above == hierarchy.ancestors[at, value]) & (below != hierarchy.ancestors[at - 1, value])
        _, sizes = np.unique(hierarchy.ancestors[level, ground[mine]], return_counts=True)
        found.append(tuple(sorted(sizes.tolist(), reverse=True)))
    return tuple(found)
