"""Categories stay flat: what belongs together is for somebody to say who knows them. What could help is a comment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pacas.core.builders.labelled_values import root_of
from pacas.core.hierarchy import Hierarchy
from pacas.engine.grouping import count_pairs
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy
from pacas.suggest.hierarchies.suggested import BuilderOptions
from pacas.suggest.kind import Kind

FEWEST_VALUES = 9
"""Fewer are not clustered."""
MOST_CONTEXTS = 100
"""Values of a column to cluster by."""
MOST_COLUMNS = 40
LOOKED_AT = 20_000
"""Rows."""
ASSOCIATED = 0.1
"""How strongly a column must go with another to cluster it by that, from 0 to 1."""


def flat(table: CodedTable, column: ProfiledColumn) -> DraftHierarchy:
    """The values and the root, and by which column they could be clustered."""
    tree = Hierarchy.flat(column.values, root=root_of(column.values))
    return DraftHierarchy("flat", tree, None, _clusters(table, column))


def _clusters(table: CodedTable, column: ProfiledColumn) -> BuilderOptions | None:
    if len(column.values) < FEWEST_VALUES:
        return None
    found = max(((association(column, other), other.name) for other in _contexts(table, column)), default=(0.0, ""))
    if found[0] < ASSOCIATED:
        return None
    return {"build": "cluster", "by": found[1], "clusters": [8, 3] if len(column.values) > 16 else [3]}


def _contexts(table: CodedTable, column: ProfiledColumn) -> Iterator[ProfiledColumn]:
    """The first columns that something could be clustered by: categories and codes with neither few nor many values."""
    fitting = (
        other
        for other in table.columns.values()
        if other is not column and other.kind in (Kind.CATEGORY, Kind.CODE) and 2 < len(other.values) <= MOST_CONTEXTS
    )
    yield from (other for _, other in zip(range(MOST_COLUMNS), fitting, strict=False))


def association(a: ProfiledColumn, b: ProfiledColumn) -> float:
    """Cramér's V, less what chance explains (Bergsma), of the first rows that have both."""
    both = np.flatnonzero((a.codes >= 0) & (b.codes >= 0))[:LOOKED_AT]
    n = len(both)
    if n < 2:
        return 0.0
    row, column, seen = count_pairs(a.codes[both], b.codes[both], len(b.values))
    rows, columns = np.bincount(row, seen), np.bincount(column, seen)
    phi = float((seen**2 / (rows[row] * columns[column])).sum() - 1)
    r, c = int((rows > 0).sum()), int((columns > 0).sum())
    corrected = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    most = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(np.sqrt(corrected / most)) if most > 0 else 0.0
