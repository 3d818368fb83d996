"""Rows and values in an order of their own: by how they look among the others, whatever they are called.

Errors are tried out on some rows, and of what is as good as something else the first is taken. Who shuffles a table, or
gives its values other names, should get the same repairs: so rows and values are put in order before they are weighed.
Where rows look alike, but for a column that names them, it is by that who of them is asked.
A value looks as often as it stands there, among what stands below the same nodes of its tree; a row as its values do;
and then each value as the rows do that hold it, and so on: what looks alike in the end may stand for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacas.client.weighed_rows.side_by_side import side_by_side
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Hierarchies

Looks = NDArray[np.uint64]
"""A number for what something looks like; others look otherwise, but for one chance in 2⁶⁴."""

SMALL = 20_000
"""So few rows are looked at until no two that look alike could still be told apart, but at most `MOST_ROUNDS` times."""
MOST_ROUNDS = 8
ROUNDS = 1
"""Others so often: some that look alike then keep the order in which they came."""

DISTINCT = 0.5
"""A column with more distinct values than this share of the rows names rows."""


@dataclass(frozen=True, slots=True, eq=False)
class WeighedRows:
    """The rows that are weighed, each at a place of its own, and their columns in that order."""

    rows: Ints
    """Per place: the row's number in the table."""
    columns: Mapping[str, CodedColumn]
    are_all: bool
    """Are these all rows of the table?"""
    _ascending: Ints
    """The places, by their rows."""

    @classmethod
    def of(
        cls, columns: Mapping[str, CodedColumn], rows: Ints | int, named: Sequence[str], trees: Hierarchies
    ) -> WeighedRows:
        """`rows` are those that the columns hold, or how many, if that is all; `named` columns are weighed."""
        are_all, held = isinstance(rows, int), np.arange(rows) if isinstance(rows, int) else rows
        order, values = _order(columns, len(held), named, trees)
        new = side_by_side(lambda name: _reordered(columns[name], order, values.get(name)), columns, len(held))
        found = dict(zip(columns, new, strict=True))
        ascending = np.empty(len(order), dtype=np.int64)
        ascending[order] = np.arange(len(order))
        return cls(held[order], found, are_all, ascending)

    def place(self, row: int) -> int | None:
        """Where a row stands, if it is weighed."""
        at = int(np.searchsorted(self.rows, row, sorter=self._ascending))
        place = int(self._ascending[at]) if at < len(self.rows) else -1
        return place if place >= 0 and int(self.rows[place]) == row else None

    def places(self, rows: Ints) -> Ints:
        """Where rows stand that are all weighed."""
        return self._ascending[np.searchsorted(self.rows, rows, sorter=self._ascending)]


def _reordered(column: CodedColumn, order: Ints, values: Ints | None) -> CodedColumn:
    if values is None:
        return CodedColumn(column.codes.take(order), column.values)
    new = np.empty(len(values), dtype=column.codes.dtype)
    new[values] = np.arange(len(values))
    return CodedColumn(new.take(column.codes.take(order)), [column.values[code] for code in values.tolist()])


def _order(
    columns: Mapping[str, CodedColumn], rows: int, named: Sequence[str], trees: Hierarchies
) -> tuple[Ints, dict[str, Ints]]:
    """The rows in order, and the codes of each named column."""
    telling = [name for name, column in columns.items() if _says_something(column, name in named)]
    looks = dict(zip(telling, side_by_side(lambda name: _at_first(columns[name]), telling, rows), strict=True))
    beside = np.zeros(rows, dtype=np.uint64)
    for number, (name, seen) in enumerate(looks.items()):
        if name not in named:
            beside += _mixed(seen + _mark(number)).take(columns[name].codes)
    mine = {name: _in_tree(columns[name], looks[name], trees.get(name)) for name in named}
    by_row, different = _of_rows(columns, mine, beside), 0
    for _ in range(MOST_ROUNDS if rows <= SMALL else ROUNDS):
        mine = {
            name: _in_tree(columns[name], _of_holders(columns[name], seen, by_row), trees.get(name))
            for name, seen in mine.items()
        }
        by_row = _of_rows(columns, mine, beside)
        if rows <= SMALL and (now := len(np.unique(by_row))) == different:
            break
        different = now if rows <= SMALL else 0
    values = {name: _null_last(columns[name], np.argsort(seen, kind="stable")) for name, seen in mine.items()}
    order = np.argsort(by_row, kind="stable")
    if rows <= SMALL:
        values = {name: _alike_by_text(found, mine[name], columns[name].values) for name, found in values.items()}
        order = _alike_by_text(order, by_row, _RowTexts(columns))
    return order, values


class _RowTexts:
    """All texts of each row."""

    def __init__(self, columns: Mapping[str, CodedColumn]) -> None:
        self._columns = [columns[name] for name in sorted(columns)]

    def __getitem__(self, row: int) -> str:
        return repr([column.values[int(column.codes[row])] for column in self._columns])


def _alike_by_text(order: Ints, looks: Looks, texts: _RowTexts | Sequence[str | None]) -> Ints:
    """The same order, but of what looks alike the first in the alphabet is the first: a key may tell rows apart."""
    found, cut = order.copy(), np.flatnonzero(np.diff(looks[order])) + 1
    for start, end in zip([0, *cut.tolist()], [*cut.tolist(), len(order)], strict=True):
        if end - start > 1:
            found[start:end] = sorted(order[start:end].tolist(), key=lambda at: texts[at] or "")
    return found


def _says_something(column: CodedColumn, is_named: bool) -> bool:
    return is_named or len(column.values) <= DISTINCT * len(column.codes)


def _at_first(column: CodedColumn) -> Looks:
    """By how often each value stands there; a null looks like none."""
    seen = np.bincount(column.codes, minlength=len(column.values)).astype(np.uint64)
    if column.values and column.values[-1] is None:
        seen[-1] += np.uint64(1 << 40)
    return _mixed(seen)


def _in_tree(column: CodedColumn, looks: Looks, tree: Hierarchy | None) -> Looks:
    """By what stands below the same nodes, level by level."""
    if tree is None:
        return looks
    admitted = tree.admit(column.values)
    codes, found = admitted.encode(column.values).astype(np.int64), looks.copy()
    known = np.flatnonzero(admitted.is_ground[: len(tree)])
    for level in range(admitted.height):
        node = admitted.ancestors[level][codes].astype(np.int64)
        below = np.bincount(admitted.ancestors[level][known], minlength=len(admitted)).astype(np.uint64)
        np.add.at(below, node, looks)
        found += _mixed(below[node] + _mark(level))
    return _mixed(found + (codes < len(tree)))


def _of_holders(column: CodedColumn, looks: Looks, rows: Looks) -> Looks:
    """By the rows that hold each value, too."""
    found = _mixed(looks)
    np.add.at(found, column.codes, _mixed(rows))
    return _mixed(found)


def _of_rows(columns: Mapping[str, CodedColumn], looks: Mapping[str, Looks], beside: Looks) -> Looks:
    found = beside.copy()
    for number, (name, seen) in enumerate(looks.items()):
        found += _mixed(seen + _mark(-1 - number)).take(columns[name].codes)
    return found


def _null_last(column: CodedColumn, order: Ints) -> Ints:
    null = len(column.values) - 1
    if not column.values or column.values[null] is not None:
        return order
    return np.append(order[order != null], null)


def _mark(number: int) -> np.uint64:
    """Of a column or a level: so that those of two are not taken for each other."""
    return np.uint64((number * 0x9E3779B97F4A7C15) % (1 << 64))


def _mixed(numbers: Looks) -> Looks:
    """Each number's bits, spread over all of another's (the finalizer of SplitMix64)."""
    found = numbers ^ (numbers >> np.uint64(30))
    found = found * np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(27)
    found = found * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))
