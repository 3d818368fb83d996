"""What is wrong with a relation: the pairs of tuples that violate its dependencies, and the cells to repair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pacas.client.classes.equivalence import EquivalenceClasses, find_classes
from pacas.core.consistency import GroupedRows
from pacas.core.dependency import FunctionalDependency
from pacas.core.notebook import html_table
from pacas.core.relation import Relation
from pacas.core.words import counted
from pacas.engine.contract import Engine, Hierarchies, Table
from pacas.engine.hierarchy_files import GivenHierarchies, as_hierarchies
from pacas.engine.questions import Data, as_source, engine_for, open_data
from pacas.errors import InputError

AT_ONCE = 2
"""Dependencies checked at a time: arrays are sorted without the interpreter's lock, and each takes its memory."""

CLASSES = pa.schema({"attribute": pa.string(), "rows": pa.list_(pa.int64()), "errors": pa.int64()})

Tell = Callable[[str], None]
"""Told what begins now, whenever a longer step begins."""


@dataclass(frozen=True, eq=False, repr=False)
class DependencyCheck:
    """One dependency's violations: pairs of tuples, and the groups that they lie in."""

    fd: FunctionalDependency
    violating: GroupedRows

    @property
    def violations(self) -> int:
        return int(self.violating.violations.sum())

    @property
    def groups(self) -> int:
        return len(self.violating)

    def __repr__(self) -> str:
        violations = counted(self.violations, "violation")
        return f"DependencyCheck({self.fd}: {violations} in {counted(self.groups, 'group')})"


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Whether a relation satisfies its dependencies, and where it does not."""

    table: Table
    engine: Engine[Any]
    dependencies: tuple[DependencyCheck, ...]
    classes: EquivalenceClasses

    @property
    def rows(self) -> int:
        return len(self.table)

    @property
    def consistent(self) -> bool:
        return not self.violations

    @property
    def violations(self) -> int:
        return sum(d.violations for d in self.dependencies)

    def classes_table(self) -> Relation:
        """A line an unresolved class: its attribute, its rows, and the violations that its cells are in."""
        lines = [{"attribute": c.attribute, "rows": c.rows, "errors": c.errors} for c in self.classes]
        return Relation(pa.Table.from_pylist(lines, CLASSES))

    def _repr_html_(self) -> str:
        rows = ((str(d.fd), d.violations, d.groups) for d in self.dependencies)
        return html_table(repr(self), ("dependency", "violations", "groups"), rows, len(self.dependencies))

    def __repr__(self) -> str:
        classes = counted(len(self.classes), "unresolved class", "unresolved classes")
        return f"Check({counted(self.rows, 'row')}, {counted(self.violations, 'violation')}, {classes})"


def check(
    data: Data,
    fds: Iterable[str | FunctionalDependency],
    hierarchies: GivenHierarchies | None = None,
    *,
    engine: Engine[Any] | None = None,
    progress: Tell | None = None,
) -> Check:
    """Count the violations of each dependency and find the classes that need a repair.

    `data` is a table in memory (pandas, Polars, Arrow, DuckDB) or `pacas.scan_relation(path)` for a file; `hierarchies`
    are given as such, or by the files they are in.
    """
    tell = progress or (lambda _: None)
    source = as_source(data)
    dependencies = FunctionalDependency.parse_all([fds] if isinstance(fds, str) else fds)
    if not dependencies:
        raise InputError("no dependency to check; give at least one, such as 'GEN, DIAG -> MED'")
    for fd in dependencies:
        fd.check(source.columns, source.name)
    engine = engine_for(data, engine)
    tell(f"reading {source.name}")
    named = {attribute for fd in dependencies for attribute in fd.attributes}
    trees = as_hierarchies(hierarchies)
    table = open_data(engine, source, [c for c in source.columns if c in named], trees)
    return check_table(engine, table, dependencies, trees, tell)


def check_table(
    engine: Engine[Any],
    table: Table,
    dependencies: Iterable[FunctionalDependency],
    hierarchies: Hierarchies,
    tell: Tell,
) -> Check:
    """Count the violations and find the classes of a table that is open already."""
    violating: dict[FunctionalDependency, GroupedRows] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = {fd: pool.submit(_violating, engine, table, fd, hierarchies) for fd in dependencies}
        for fd, groups in asked.items():
            tell(f"checking {fd}")
            violating[fd] = groups.result()
    tell("finding equivalence classes")
    classes = find_classes(engine, table, violating, hierarchies)
    found = tuple(DependencyCheck(fd, groups) for fd, groups in violating.items())
    return Check(table, engine, found, classes)


def _violating(engine: Engine[Any], table: Table, fd: FunctionalDependency, hierarchies: Hierarchies) -> GroupedRows:
    groups = engine.mixed_groups(table, [fd.lhs], fd.rhs, hierarchies)
    return groups.violating
