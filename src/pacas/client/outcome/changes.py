"""What a cleaning has changed, cell by cell: from the value that was given to the one that stands there in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.client.outcome.steps import Repair
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.engine.contract import Engine
from pacas.engine.new_cells import in_type, put


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Changes:
    """The cells of one attribute that have changed: `old[i]` stood in `rows[i]`, and `new[i]` stands there now."""

    rows: Ints
    """Ascending."""
    old: list[str | None]
    new: list[str]

    def __len__(self) -> int:
        return len(self.rows)


def net_changes(repairs: Iterable[Repair], columns: Sequence[str]) -> dict[str, Changes]:
    """What repairs come to, one after the other; a cell that ends as it began is left out."""
    cells: dict[str, dict[int, tuple[str | None, str]]] = {}
    for repair in repairs:
        if not len(repair.written):
            continue
        mine, old = cells.setdefault(repair.attribute, {}), repair.old
        for row, at in zip(repair.written.tolist(), np.searchsorted(repair.rows, repair.written).tolist(), strict=True):
            mine[row] = (mine[row][0] if row in mine else old[at], repair.new)
    found = {}
    for attribute in columns:
        kept = [(row, old, new) for row, (old, new) in sorted(cells.get(attribute, {}).items()) if old != new]
        if kept:
            rows, before, after = zip(*kept, strict=True)
            found[attribute] = Changes(np.array(rows, dtype=np.int64), list(before), list(after))
    return found


def with_changes(relation: Relation, changes: Mapping[str, Changes], engine: Engine[Any]) -> Relation:
    """A relation with the changed cells; a column keeps its type where all its new values have it, else it is text."""
    table = relation.table
    for attribute, changed in changes.items():
        at = table.column_names.index(attribute)
        new = as_type(changed.new, table.schema.field(at).type)
        column = table.column(at) if new is not None else as_texts(table.column(at), engine)
        table = table.set_column(at, attribute, put(column, changed.rows, new or pa.array(changed.new, pa.string())))
    return Relation(table)


def as_type(texts: Sequence[str], kind: pa.DataType) -> pa.Array | None:
    """Texts as values of a column's type, if all of them are; categories and views become what they stand for."""
    if pa.types.is_string_view(kind):
        return pa.array(texts, pa.string())
    return in_type(texts, kind.value_type if pa.types.is_dictionary(kind) else kind)


def as_texts(column: pa.ChunkedArray, engine: Engine[Any]) -> pa.ChunkedArray:
    """A column as the engine reads it."""
    return engine.rows(engine.open(Relation(pa.table({"column": column}))), None, ["column"]).column(0)
