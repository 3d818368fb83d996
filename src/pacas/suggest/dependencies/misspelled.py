"""A column's usual value, misspelled: where nearly all rows have one value, the same errors are made again and again.

Such a typo is seen more often than twice, and all of them more often than the rare values that are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pacas.engine.grouping import Mask
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.kind import NEAR_CONSTANT

USUAL = 0.8
"""The share of rows with one value from which on it is the usual one."""
MUCH_RARER = 0.05
"""How often, as a share of that, a misspelling of it is seen at most."""
FEWEST_LETTERS = 3
"""A shorter value is one letter from any other."""

Misspelled = Mapping[int, Mask]
"""By the number of a column, which of its values are its usual one, misspelled; only of columns that have such."""


def misspelled(columns: Sequence[ProfiledColumn]) -> Misspelled:
    """The values that are one letter from the usual one: changed, missing, added, or two of them exchanged."""
    found = {place: _near_the_usual(column) for place, column in enumerate(columns)}
    return {place: near for place, near in found.items() if near is not None and near.any()}


def is_constant_but_for_errors(column: ProfiledColumn) -> bool:
    """Whether a column is nearly constant, once its usual value is spelled right."""
    near = _near_the_usual(column)
    usual = 0 if near is None else int(column.counts.max() + column.counts[near].sum())
    return usual >= NEAR_CONSTANT * max(column.present, 1)


def _near_the_usual(column: ProfiledColumn) -> Mask | None:
    """None where no value is usual, or it is short or has a digit: one digit from another is another number."""
    if column.counts.max(initial=0) < USUAL * max(column.present, 1):
        return None
    from rapidfuzz.distance import OSA  # here: slow to import, rarely needed

    usual = column.values[int(column.counts.argmax())]
    if len(usual) < FEWEST_LETTERS or any(character.isdigit() for character in usual):
        return None
    is_rare = (column.counts <= MUCH_RARER * column.counts.max()).tolist()
    near = [rare and OSA.distance(usual, value) == 1 for value, rare in zip(column.values, is_rare, strict=True)]
    return np.array(near, dtype=np.bool_)
