"""What a policy leaves for sale before anything is sold: it follows from the tree, and from how many rows are found.

Sealed quotes refuse by public counts alone. A row that is kept back is sold from the level on at which every label
leaves k values of L possible (`safe_level`); who is not kept back, at every level; who is not found alone, at none
below the root.
"""

from __future__ import annotations

import numpy as np

from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.suggest.policies.rows_for_sale import RowsForSale


def values_left(hierarchy: Hierarchy, level: int) -> Ints:
    """N: per level of an answer, how many values at `level` its worst label leaves possible.

    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> values_left(med, 0).tolist()
    [1, 1, 3]
    """
    hierarchy.check_level(level)
    ground = np.flatnonzero(hierarchy.is_ground)
    protected = hierarchy.ancestors[level, ground].astype(np.int64)
    least = []
    for labels in hierarchy.ancestors[:, ground]:
        pairs = np.unique(labels.astype(np.int64) * len(hierarchy) + protected) // len(hierarchy)
        least.append(int(np.unique(pairs, return_counts=True)[1].min()))
    return np.array(least, dtype=np.int64)


def safe_level(hierarchy: Hierarchy, k: int, level: int) -> int | None:
    """φ: the lowest level at which every label leaves k values at `level` possible; None: not even the root does."""
    enough = np.flatnonzero(values_left(hierarchy, level) >= k)
    return int(enough[0]) if len(enough) else None


def sellable(found: RowsForSale, height: int, safe: int) -> tuple[float, ...]:
    """Per level up to the root: the share of rows that are for sale before anything is sold."""
    rows = max(found.rows, 1)
    below, above = (found.alone - found.kept) / rows, found.alone / rows
    return (*(below if level < safe else above for level in range(height)), found.matched / rows)
