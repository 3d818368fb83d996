"""Cells that another error detector has named: each joins its equivalence class, or is one of its own.

A class with a named cell is repaired even if its values agree, and each named cell counts as one more error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pacas.client.classes.equivalence import EquivalenceClasses, count_errors
from pacas.core.consistency import GroupedRows
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.relation import no_such_row
from pacas.engine.codes import coded_texts, in_hierarchy
from pacas.engine.contract import Engine, Hierarchies, Source, Table
from pacas.engine.new_cells import NewCells
from pacas.errors import SchemaError

Cell = tuple[int, str]
"""t[A]: a row and an attribute."""


def check_attributes(cells: Iterable[Cell], relation: Source) -> set[str]:
    """The attributes named; one that the relation does not have is a mistake."""
    named = {attribute for _, attribute in cells}
    for attribute in named:
        if attribute not in relation.columns:
            raise SchemaError.missing(attribute, relation.columns, relation.name)
    return named


def check_cells(cells: Iterable[Cell], table: Table) -> dict[str, Ints]:
    """The rows named, by attribute in column order; a row that the relation does not have is a mistake."""
    named: dict[str, set[int]] = {}
    for row, attribute in cells:
        if not 0 <= row < len(table):
            raise no_such_row(row, table, table.name)
        named.setdefault(attribute, set()).add(int(row))
    return {a: np.array(sorted(named[a]), dtype=np.int64) for a in table.columns if a in named}


def add_named(
    classes: EquivalenceClasses,
    named: Mapping[str, Ints],
    violating: Mapping[FunctionalDependency, GroupedRows],
    table: Table,
    engine: Engine[Any],
    hierarchies: Hierarchies,
) -> EquivalenceClasses:
    """The classes to repair: the unresolved ones, and those of the named cells."""
    cells = dict(classes.cells)
    for attribute, rows in named.items():
        lhss = [fd.lhs for fd in violating if fd.rhs == attribute]
        groups = _together(engine, table, lhss, rows, hierarchies) if lhss else []
        met = {int(row) for group in groups for row in group}
        alone = [rows[i : i + 1] for i in range(len(rows)) if int(rows[i]) not in met]
        ordered = _joined(cells.get(attribute), [*groups, *alone])
        cells[attribute] = _with_values(engine, table, attribute, ordered, hierarchies.get(attribute))
    in_order = {a: cells[a] for a in table.columns if a in cells}
    errors = {a: count_errors(a, groups, violating) for a, groups in in_order.items()}
    for attribute, rows in named.items():
        errors[attribute] = errors[attribute] + _named_in(in_order[attribute], rows)
    return EquivalenceClasses(in_order, errors)


def _together(
    engine: Engine[Any], table: Table, lhss: list[tuple[str, ...]], named: Ints, hierarchies: Hierarchies
) -> list[Ints]:
    """The rows that the left sides tie to a named one, if there are others.

    Each named row gets a mark of its own, so that wherever one stands together with any other row, marks are mixed.
    """
    name = "mark"
    while name in table.columns:
        name += "_"
    marked = engine.changed(table, {name: NewCells(named, [str(n) for n in range(len(named))])})
    groups = engine.mixed_groups(marked, lhss, name, hierarchies)
    return [groups.group(n) for n in range(len(groups))]


def _joined(unresolved: GroupedRows | None, groups: list[Ints]) -> list[Ints]:
    """The rows of the unresolved classes and of these, each class once, in order of their first row."""
    classes = {int(group[0]): group for group in groups}
    if unresolved is not None:
        classes |= {int(unresolved.group(n)[0]): unresolved.group(n) for n in range(len(unresolved))}
    return [classes[first] for first in sorted(classes)]


def _with_values(
    engine: Engine[Any], table: Table, attribute: str, classes: list[Ints], hierarchy: Hierarchy | None
) -> GroupedRows:
    rows = np.concatenate(classes)
    column = coded_texts(engine.rows(table, rows, [attribute]).column(0))
    known, nodes = in_hierarchy(column, hierarchy or Hierarchy.flat(()))
    return GroupedRows(rows, np.cumsum([0, *map(len, classes)]), nodes[column.codes], known)


def _named_in(classes: GroupedRows, named: Ints) -> Ints:
    """Per class: how many of its cells are named."""
    return np.bincount(classes.groups[np.isin(classes.rows, named)], minlength=len(classes)).astype(np.int64)
