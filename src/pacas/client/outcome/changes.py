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
from pacas.core.words import counted
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

    def __repr__(self) -> str:
        return f"Changes({counted(len(self), 'cell')})"


def net_changes(repairs: Iterable[Repair], columns: Sequence[str]) -> dict[str, Changes]:
    """What repairs come to, one after the other; a cell that ends as it began is left out."""
    by_attribute: dict[str, list[Repair]] = {}
    for repair in repairs:
        if len(repair.written):
            by_attribute.setdefault(repair.attribute, []).append(repair)
    found = {a: _net(by_attribute[a]) for a in columns if a in by_attribute}
    return {attribute: changes for attribute, changes in found.items() if len(changes)}


def _net(repairs: Sequence[Repair]) -> Changes:
    """Of each cell what the first repair found there, and what the last one wrote."""
    rows = np.concatenate([repair.written for repair in repairs])
    places = np.concatenate([_places(repair) for repair in repairs])
    number = np.repeat(np.arange(len(repairs)), [len(repair.written) for repair in repairs])
    order = np.argsort(rows, kind="stable")
    first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    last = order[np.flatnonzero(np.diff(rows[order], append=-1))]
    found = zip(number[first].tolist(), places[first].tolist(), strict=True)
    old = [repairs[n].before.values[int(repairs[n].before.codes[place])] for n, place in found]
    new = [repairs[n].new for n in number[last].tolist()]
    kept = [i for i, (was, now) in enumerate(zip(old, new, strict=True)) if was != now]
    return Changes(rows[first[kept]].astype(np.int64), [old[i] for i in kept], [new[i] for i in kept])


def _places(repair: Repair) -> Ints:
    """Where the written rows stand in the column as it was."""
    if len(repair.written) == len(repair.rows):
        return repair.places
    return repair.places[np.searchsorted(repair.rows, repair.written)]


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
