"""Equivalence classes: cells of one attribute that the dependencies force to agree, and how many errors each is in.

Paper: §6.2 (GenerateEQs, Alg. 4) and §6.3 (errors(R, Σ, eq)). The paper merges cells pair by pair and counts errors
by listing them; here both come from counts per group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from pacas.core.consistency import GroupedRows, ValueCounts
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints, sum_by
from pacas.engine.contract import Engine, Hierarchies, Table


@dataclass(frozen=True, slots=True, eq=False)
class EquivalenceClass:
    """Cells of one attribute that must end up equal."""

    attribute: str
    rows: Ints
    errors: int


@dataclass(frozen=True, eq=False, repr=False)
class EquivalenceClasses(Sequence[EquivalenceClass]):
    """The unresolved classes, those with most errors first (D9: then the lowest first row, then column order)."""

    cells: Mapping[str, GroupedRows]
    """Per attribute, in column order: its unresolved classes."""
    errors: Mapping[str, Ints]

    @cached_property
    def _order(self) -> list[tuple[str, int]]:
        attributes = list(self.cells)
        if not attributes:
            return []
        column = np.concatenate([np.full(len(cells), c) for c, cells in enumerate(self.cells.values())])
        number = np.concatenate([np.arange(len(cells)) for cells in self.cells.values()])
        first = np.concatenate([cells.first_rows for cells in self.cells.values()])
        errors = np.concatenate([self.errors[attribute] for attribute in attributes])
        order = np.lexsort((column, first, -errors))
        return [(attributes[c], n) for c, n in zip(column[order].tolist(), number[order].tolist(), strict=True)]

    def __len__(self) -> int:
        return sum(map(len, self.cells.values()))

    @overload
    def __getitem__(self, at: int) -> EquivalenceClass: ...
    @overload
    def __getitem__(self, at: slice) -> list[EquivalenceClass]: ...
    def __getitem__(self, at: int | slice) -> EquivalenceClass | list[EquivalenceClass]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        attribute, number = self._order[at]
        return EquivalenceClass(attribute, self.cells[attribute].group(number), int(self.errors[attribute][number]))

    def __iter__(self) -> Iterator[EquivalenceClass]:
        return (self[at] for at in range(len(self)))

    def __repr__(self) -> str:
        return f"EquivalenceClasses({len(self):,} unresolved)"


def find_classes(
    engine: Engine[Any], table: Table, violating: Mapping[FunctionalDependency, GroupedRows], hierarchies: Hierarchies
) -> EquivalenceClasses:
    """The unresolved classes of a relation, given each dependency's violating groups."""
    cells: dict[str, GroupedRows] = {}
    for attribute in sorted({fd.rhs for fd in violating}, key=table.columns.index):
        sharing = [fd for fd in violating if fd.rhs == attribute]
        if len(sharing) == 1:  # its groups are the classes
            cells[attribute] = violating[sharing[0]]
        else:
            cells[attribute] = engine.mixed_groups(table, [fd.lhs for fd in sharing], attribute, hierarchies).violating
    errors = {attribute: count_errors(attribute, classes, violating) for attribute, classes in cells.items()}
    return EquivalenceClasses(cells, errors)


def count_errors(attribute: str, classes: GroupedRows, violating: Mapping[FunctionalDependency, GroupedRows]) -> Ints:
    """Per class: the violating pairs, over all dependencies, in which one of its cells takes part."""
    errors = np.zeros(len(classes), dtype=np.int64)
    class_of = _ClassOf(classes)
    for fd, groups in violating.items():
        if groups is classes:
            errors += groups.violations
        elif fd.rhs == attribute:
            errors += _errors_on_the_right(groups, class_of)
        elif attribute in fd.lhs:
            errors += pairs_touching(groups, class_of(groups.rows), class_of.count)
    return errors


class _ClassOf:
    """Which class a row's cell belongs to, −1 for none."""

    def __init__(self, classes: GroupedRows) -> None:
        self.classes = classes
        self.count = len(classes)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.classes.rows)

    @cached_property
    def _rows(self) -> Ints:
        return self.classes.rows[self._order]

    def __call__(self, rows: Ints) -> Ints:
        if not self.count:
            return np.full(len(rows), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._rows, rows), len(self._rows) - 1)
        return np.where(self._rows[at] == rows, self.classes.groups[self._order[at]], -1)


def _errors_on_the_right(groups: GroupedRows, class_of: _ClassOf) -> Ints:
    """A dependency's group lies in one class: its pairs count there."""
    return sum_by(class_of(groups.first_rows), groups.violations, class_of.count)


def pairs_touching(groups: GroupedRows, member: Ints, count: int) -> Ints:
    """Per class: the violating pairs with at least one end in it.

    `member` is each row's class, −1 for none. Pairs are those seen from the class's rows, less those counted twice.

    Of four rows with the values a, b, b, c five pairs clash; the class of the first two takes part in four of them
    (each of its rows sees 3 and 2, and the pair a-b is seen twice), that of the last row in three.

    >>> from pacas.core.hierarchy import Hierarchy
    >>> tree = Hierarchy.flat(["a", "b", "c"])
    >>> groups = GroupedRows(np.arange(4), np.array([0, 4]), tree.encode(["a", "b", "b", "c"]), tree)
    >>> pairs_touching(groups, np.array([0, 0, -1, 1]), count=2).tolist()
    [4, 3]
    """
    inside = np.flatnonzero(member >= 0)
    if not len(inside):
        return np.zeros(count, dtype=np.int64)
    group, codes, member = groups.groups[inside], groups.codes[inside], member[inside]
    seen = sum_by(member, _incomparable(groups)[inside], count)
    pairs, pair = np.unique(group * count + member, return_inverse=True)
    order = np.argsort(pair, kind="stable")
    twice = ValueCounts.of(np.bincount(pair), codes[order], groups.hierarchy).violations(len(pairs))
    return seen - sum_by(pairs % count, twice, count)


def _incomparable(groups: GroupedRows) -> Ints:
    """Per row: how many rows of its group it violates the dependency with."""
    counts = ValueCounts.of(groups.sizes, groups.codes, groups.hierarchy)
    width = len(groups.hierarchy)
    entry = np.searchsorted(counts.group * width + counts.code, groups.groups * width + groups.codes)
    return counts.incomparable[entry]
