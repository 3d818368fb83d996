"""Families of values that stand next to each other in the alphabet, all about as large: they mean nothing, but hide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pacas.core.builders.labelled_values import labelled_tree
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy

SIZE = 10
"""Values of a family, and families of the next larger one, about."""
FEWEST = 4
"""Families of the coarsest level, at least."""
LETTERS = 20
"""Of a value in the name of a family."""


def families_of(column: ProfiledColumn) -> DraftHierarchy | None:
    """Families of ten values, of a hundred, … as long as there are several."""
    values = column.values
    family, many = list(range(len(values))), len(values)
    columns = []
    while many // SIZE >= FEWEST:
        family = [number * (many // SIZE) // many for number in family]
        columns.append(_named(values, family))
        many //= SIZE
    if not columns:
        return None
    sizes = ", ".join(f"{SIZE ** (n + 1):,}" for n in range(len(columns)))
    how = f"families of {sizes} neighbours in the alphabet"
    return DraftHierarchy(how, labelled_tree(dict(zip(values, zip(*columns, strict=True), strict=True))))


def _named(values: Sequence[str], family: Sequence[int]) -> list[str]:
    """Each value's family, which is called by its first and its last value."""
    last = dict(zip(family, values, strict=True))
    first = dict(zip(reversed(family), reversed(values), strict=True))
    names = {number: f"{_short(first[number])} … {_short(last[number])}" for number in last}
    again = {name for name, many in Counter(names.values()).items() if many > 1}
    named = {number: f"{name} ({number + 1})" if name in again else name for number, name in names.items()}
    return [named[number] for number in family]


def _short(value: str) -> str:
    return value if len(value) <= LETTERS else value[: LETTERS - 1] + "…"
