"""The classes of a round, with their errors and the rows that matter.

Paper: GenerateEQs, Alg. 4, and the filter of Alg. 3. A relation for which the engine gives room is held as codes, all
rows of it. Of a larger one only the rows of classes are, with the columns that they are judged and asked about by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pacas.client.classes.check import check_table
from pacas.client.classes.current_relation import CurrentColumn, CurrentRelation
from pacas.client.classes.equivalence import EquivalenceClasses
from pacas.client.classes.error_counts import ErrorCounts
from pacas.client.classes.named_cells import add_named
from pacas.client.classes.unheld_rows import UnheldRows
from pacas.core.consistency import GroupedRows
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import NO_ROWS, Ints
from pacas.engine.codes import CodedColumn, coded_texts
from pacas.engine.contract import Engine, Hierarchies, Table

BYTES = 24
"""What a cell takes, as codes of its spelling, before and now, and of its node, with what is counted on the way."""


def generate_eqs(
    engine: Engine[Any],
    table: Table,
    used: Sequence[str],
    fds: Sequence[FunctionalDependency],
    named: Mapping[str, Ints],
    hierarchies: Hierarchies,
    counted: bool = False,
) -> ErrorCounts:
    """The classes to repair, the resolved ones filtered out, with their errors.

    `used` are the columns that matter. `counted` says that it will be asked how often values stand in the whole of a
    repaired column.
    """
    found = check_table(engine, table, fds, hierarchies, lambda _: None)
    violating = {d.fd: d.violating for d in found.dependencies}
    classes = found.classes
    if named:
        classes = add_named(classes, named, violating, table, engine, hierarchies)
    if len(table) * len(used) * BYTES <= engine.holdable_bytes:
        columns = {a: CurrentColumn(c, hierarchies.get(a)) for a, c in engine.columns(table, used).items()}
        return ErrorCounts(classes, violating, CurrentRelation(columns, None, len(table)))
    held = _rows_of(classes)
    columns = _columns(engine, table, used, held, hierarchies, [*classes.cells] if counted else [])
    current = CurrentRelation(columns, held, len(table))
    cells = {a: groups.at(np.searchsorted(held, groups.rows)) for a, groups in classes.cells.items()}
    placed = {fd: groups.at(np.searchsorted(held, groups.rows)) for fd, groups in violating.items()}
    unheld = UnheldRows(engine, table, held, fds, hierarchies)
    return ErrorCounts(EquivalenceClasses(cells, classes.errors), placed, current, unheld)


def _rows_of(classes: EquivalenceClasses) -> Ints:
    """The rows of all classes; those of violating groups are among them."""
    parts: list[GroupedRows] = list(classes.cells.values())
    return np.unique(np.concatenate([NO_ROWS, *(part.rows for part in parts)]))


def _columns(
    engine: Engine[Any],
    table: Table,
    used: Sequence[str],
    held: Ints,
    hierarchies: Hierarchies,
    counted: Sequence[str],
) -> dict[str, CurrentColumn]:
    """The columns of the rows that are held."""
    if not len(held):
        return {a: CurrentColumn(CodedColumn(np.empty(0, dtype=np.int32), []), hierarchies.get(a)) for a in used}
    texts = engine.rows(table, held, used)
    columns = {}
    for attribute in used:
        coded, counts = coded_texts(texts.column(attribute)), None
        if attribute in counted:
            coded, counts = _with_all_values(engine, table, attribute, coded)
        columns[attribute] = CurrentColumn(coded, hierarchies.get(attribute), counts)
    return columns


def _with_all_values(engine: Engine[Any], table: Table, attribute: str, coded: CodedColumn) -> tuple[CodedColumn, Ints]:
    """The column with the values of rows that are not held, too, and how often each stands in the relation."""
    values, counts = engine.histogram(table, [attribute], {}).by_text()
    number = {value: i for i, value in enumerate(values)}
    codes = np.array([number[value] for value in coded.values], dtype=np.int32)
    return CodedColumn(codes[coded.codes], values), counts
