"""How many neighbours a cell needs, so that a paper provider can keep a policy and still sell.

With the paper's quotes only neighbours hide a value (`support = { per_cell = 10 }`), spread over the levels at which
they first agree with it; an answer at a level leaves those that agree there. So `per_cell` caps k, and nothing says so
but refusals.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from itertools import count, starmap

import numpy as np

from pacas.core.hierarchy import Hierarchy

MOST = 1_000
"""Beyond this many neighbours a cell, none are proposed."""

Sizes = frozenset[tuple[int, int]]
"""Labels at L by how many ground values each stands for: (ground values, labels)."""
Candidates = tuple[Sizes, ...]
"""Per level, from 1 on, the labels of the values that first agree with a value there.

Those that agree at L or below have the value's own label; they take their part of the neighbours, and add no label."""


def per_cell_for(hierarchy: Hierarchy, k: int, level: int, sold_at: int) -> int | None:
    """The fewest neighbours a cell with which every value is for sale at `sold_at`, even to an X-group of one row.

    With them k labels at `level` are left, the value's own among them, wherever the draw falls. None: no number up to
    `MOST` does it.

    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> per_cell_for(med, 2, 0, 2), per_cell_for(med, 3, 0, 2), per_cell_for(med, 2, 0, 1)
    (1, 2, None)
    """
    suffices = partial(_all_left, _unlike_candidates(hierarchy, level), k, level, sold_at)
    if not suffices(MOST):
        return None
    low, high = 0, MOST
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _all_left(kinds: set[Candidates], k: int, level: int, sold_at: int, per_cell: int) -> bool:
    return all(_labels_left(candidates, level, sold_at, per_cell) >= k for candidates in kinds)


def _labels_left(candidates: Candidates, level: int, sold_at: int, per_cell: int) -> int:
    """Labels at L that an answer leaves at the least: the own one, and those of the neighbours that agree with it."""
    there = [at for at, sizes in enumerate(candidates, start=1) if sizes]
    even, rest = divmod(per_cell, max(len(there), 1))
    left = 1
    for above, at in enumerate(reversed(there)):  # where it does not divide, higher levels get one more
        if level < at <= sold_at:
            left += _labels_of(candidates[at - 1], even + (above < rest))
    return left


def _labels_of(sizes: Sizes, drawn: int) -> int:
    """How many labels so many different candidates have at the least: those of the largest labels."""
    labels = 0
    for size, many in sorted(sizes, reverse=True):
        taken = min(-(-drawn // size), many)
        labels += taken
        drawn = max(drawn - taken * size, 0)
    return labels


def _unlike_candidates(hierarchy: Hierarchy, level: int) -> set[Candidates]:
    """The candidates of every ground value, those of values that have alike ones once."""
    paths = hierarchy.ancestors[:, hierarchy.is_ground]
    ground = [np.bincount(path, minlength=len(hierarchy)).tolist() for path in paths]
    of_label = {label: ground[level][label] for label in np.unique(paths[level]).tolist()}
    below: list[dict[int, Counter[int]]] = []
    for path in paths:
        labels: dict[int, Counter[int]] = {}
        for node, label in set(zip(path.tolist(), paths[level].tolist(), strict=True)):
            labels.setdefault(node, Counter())[of_label[label]] += 1
        below.append(labels)

    def first_agree(at: int, above: int, beneath: int) -> Sizes:
        if at > level:
            return frozenset((below[at][above] - below[at - 1][beneath]).items())
        more = ground[at][above] - ground[at - 1][beneath]
        return frozenset([(more, 1)] if more else [])

    agreeing = cache(first_agree)
    return {tuple(starmap(agreeing, zip(count(1), path[1:], path, strict=False))) for path in paths.T.tolist()}
