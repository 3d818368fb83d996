"""Hierarchies that stand in a table already: each column holds what the one before it generalizes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pacas.core.builders.labelled_values import labelled_tree
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError


def columns(
    values: Sequence[str],
    above: Sequence[Sequence[str | None]],
    counts: Sequence[int],
    *,
    columns: Sequence[str],
) -> Hierarchy:
    """The hierarchy of a column's values by what the rows have in the columns above it, then the root.

    Above a value stands what most of its rows have, the first by text of equals. A column that tells no more, or no
    less, than the one below it makes no level.

    >>> above = [("Rensselaer", "NY"), ("Albany", "NY"), ("Essex", "NJ")]
    >>> list(columns(["Troy", "Albany", "Newark"], above, [1, 2, 1], columns=["County", "State"]).rows())[1]
    ('Newark', 'NJ', '*')
    """
    names = sorted(set(values))
    if not names:
        raise HierarchyError("the column has no values to build from")
    labels: dict[str, list[str]] = {name: [] for name in names}
    lower: Sequence[str | None] = values
    at: dict[str, str | None] = dict(zip(names, names, strict=True))
    for level, column in enumerate(columns):
        upper = [row[level] for row in above]
        parents = _above(lower, upper, counts)
        at = {name: parents.get(label) if label is not None else None for name, label in at.items()}
        for name, label in at.items():
            labels[name].append(f"no {column}" if label is None else label)
        lower = upper
    made = labelled_tree(labels)
    if made.height < 2 and len(names) > 1:
        raise HierarchyError("no column groups the values: each has as many as the one below it, or a single one")
    return made


def _above(lower: Sequence[str | None], upper: Sequence[str | None], counts: Sequence[int]) -> dict[str, str]:
    """What most rows of each value have above it."""
    often: dict[str, Counter[str]] = {}
    for value, parent, count in zip(lower, upper, counts, strict=True):
        if value is not None and parent is not None:
            often.setdefault(value, Counter())[parent] += count
    return {value: min(found, key=lambda parent: (-found[parent], parent)) for value, found in often.items()}
