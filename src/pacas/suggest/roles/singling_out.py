"""How far columns single rows out: the share of rows whose values no other row has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import Ints, Keys, combine, count_pairs
from pacas.suggest.coded_table import CodedTable, ProfiledColumn

ENOUGH = 0.95
"""Rows singled out beyond which no further column is looked for."""
MOST_COLUMNS = 8
LEAST_GAIN = 0.01
"""The share of rows that the last column must single out."""


class SinglingOut(NamedTuple):
    """A column, and the share of rows that it and those before it single out."""

    attribute: str
    share: float


def singled_out_alone(column: ProfiledColumn) -> float:
    """The share of rows that have a value which no other row has."""
    return float((column.counts == 1).sum() / max(len(column.codes), 1))


def values_shown(column: ProfiledColumn, by: ProfiledColumn) -> float:
    """How many values of a column the rows have that share a value of another, on the average over rows."""
    both = np.flatnonzero((column.codes >= 0) & (by.codes >= 0))
    group, _, rows = count_pairs(by.codes[both], column.codes[both], max(len(column.values), 1))
    values, sizes = np.bincount(group), np.bincount(group, rows)
    return float((values * sizes).sum() / max(len(both), 1))


def singling_out(table: CodedTable, attributes: Sequence[str]) -> list[SinglingOut]:
    """The columns that together single most rows out, greedily: each adds most to those before.

    That is, it makes most groups: where nobody is singled out yet, groups get smaller. A null is as good as a value.
    Rows that are singled out stay so, and are not looked at again.
    """
    chosen: list[SinglingOut] = []
    rest = list(attributes)
    left = SharingRows(np.arange(table.rows), np.zeros(table.rows, dtype=np.int64), 1)
    while rest and len(left.rows) and len(chosen) < MOST_COLUMNS:
        tried = {name: _told_apart(left, table[name]) for name in rest}
        best = max(rest, key=lambda name: tried[name].groups)
        if tried[best].groups <= left.groups:
            break
        left = tried[best]._replace(groups=tried[best].shared_groups)
        rest.remove(best)
        chosen.append(SinglingOut(best, 1 - len(left.rows) / table.rows))
        if chosen[-1].share >= ENOUGH:
            break
    return _that_add(chosen)


def _that_add(chosen: list[SinglingOut]) -> list[SinglingOut]:
    """Without the last ones, as long as they single out next to nobody."""
    while chosen and chosen[-1].share - (chosen[-2].share if len(chosen) > 1 else 0.0) < LEAST_GAIN:
        chosen.pop()
    return chosen


class SharingRows(NamedTuple):
    """Rows that are not singled out yet, by number and by group."""

    rows: Ints
    group: Ints
    groups: int
    """Of all rows that were looked at."""
    shared_groups: int = 1
    """Of those that are left."""


def _told_apart(left: SharingRows, column: ProfiledColumn) -> SharingRows:
    """What is left when a column tells rows apart, too; the more groups they fall into, the better."""
    codes = Keys(column.codes[left.rows].astype(np.int64) + 1, len(column.values) + 1, False)
    both = combine([Keys(left.group, int(left.group.max(initial=0)) + 1, False), codes])
    sizes = np.bincount(both.key, minlength=both.space)
    shared = sizes[both.key] > 1
    groups = int((sizes > 0).sum())
    return SharingRows(left.rows[shared], both.key[shared].astype(np.int64), groups, groups - int((sizes == 1).sum()))
