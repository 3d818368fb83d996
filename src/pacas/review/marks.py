"""Where a table violates its dependencies, ready to be looked up by row: the classes of cells, and rows by kind.

Everything here is as large as what is wrong with the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.client.classes.check import Check
from pacas.core.consistency import GroupedRows, ValueCounts
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import NO_ROWS, Ints

SIZES = {"2": (2, 2), "3 to 5": (3, 5), "6 to 20": (6, 20), "more than 20": (21, 1 << 62)}
"""How many cells a class has."""


class ClassOfCell(NamedTuple):
    """The class that a cell is in."""

    number: int
    rows: Ints
    errors: int
    """The violating pairs that its cells take part in."""


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """The classes of one attribute."""

    groups: GroupedRows
    errors: Ints
    rows: Ints
    """All rows that are in a class, ascending."""
    number: Ints
    """Of each: its class."""
    stands_out: NDArray[np.bool_]
    """Of each: is it another value than most of its class have?"""

    @classmethod
    def of(cls, groups: GroupedRows, errors: Ints) -> _Column:
        order = np.argsort(groups.rows, kind="stable")
        return cls(groups, errors, groups.rows[order], groups.groups[order], _unlike_most(groups)[order])

    def numbers(self, rows: Ints) -> Ints:
        """Per row: its class, −1 for none."""
        if not len(self.rows):
            return np.full(len(rows), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[at] == rows, self.number[at], -1)


class Marks:
    """A check's classes and violations, by row."""

    def __init__(self, check: Check) -> None:
        classes = check.classes
        self._columns = {name: _Column.of(groups, classes.errors[name]) for name, groups in classes.cells.items()}
        self.by_attribute: Mapping[str, Ints] = {name: column.rows for name, column in self._columns.items()}
        self.by_dependency: Mapping[FunctionalDependency, Ints] = {
            one.fd: np.unique(one.violating.rows) for one in check.dependencies
        }
        self.by_size: Mapping[str, Ints] = {name: self._of_size(*bounds) for name, bounds in SIZES.items()}

    @cached_property
    def violating(self) -> Ints:
        """All rows with a cell that is in a class."""
        return united(list(self.by_attribute.values()))

    @cached_property
    def standing_out(self) -> Ints:
        """All rows with a cell that is another than most of its class."""
        return united([column.rows[column.stands_out] for column in self._columns.values()])

    def stands_out(self, attribute: str, rows: Ints) -> NDArray[np.bool_]:
        """Per row: is its cell another than most of its class?"""
        column = self._columns.get(attribute)
        if column is None or not len(column.rows):
            return np.zeros(len(rows), dtype=np.bool_)
        at = np.minimum(np.searchsorted(column.rows, rows), len(column.rows) - 1)
        return np.asarray((column.rows[at] == rows) & column.stands_out[at])

    def numbers(self, attribute: str, rows: Ints) -> Ints:
        """Per row: the class that its cell is in, −1 for none."""
        column = self._columns.get(attribute)
        return np.full(len(rows), -1, dtype=np.int64) if column is None else column.numbers(rows)

    def class_of(self, attribute: str, row: int) -> ClassOfCell | None:
        number = int(self.numbers(attribute, np.array([row]))[0])
        if number < 0:
            return None
        column = self._columns[attribute]
        return ClassOfCell(number, column.groups.group(number), int(column.errors[number]))

    def _of_size(self, least: int, most: int) -> Ints:
        found = []
        for column in self._columns.values():
            sizes = column.groups.sizes
            wanted: NDArray[np.bool_] = (sizes >= least) & (sizes <= most)
            found.append(column.groups.rows[wanted[column.groups.groups]])
        return united(found)


def _unlike_most(groups: GroupedRows) -> NDArray[np.bool_]:
    """Per row of groups: has it another value than the group's most frequent one? Of several, the first counts."""
    counts = ValueCounts.of(groups.sizes, groups.codes, groups.hierarchy)
    order = np.lexsort((counts.code, -counts.n, counts.group))
    group = counts.group[order]
    most = counts.code[order][np.flatnonzero(np.diff(group, prepend=-1))]
    return np.asarray(groups.codes != most[groups.groups])


def united(rows: list[Ints]) -> Ints:
    """All of several rows, ascending, each once."""
    return np.unique(np.concatenate([NO_ROWS, *rows]))
