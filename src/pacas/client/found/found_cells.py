"""Cells that another tool has found wrong, by row or by key, and the rows that their keys are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.client.classes.named_cells import Cell
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.core.words import counted
from pacas.engine.contract import Engine, Source
from pacas.engine.questions import embedded_engine
from pacas.errors import InputError, SchemaError

KeyValues = tuple[str | None, ...]
"""What a row holds in the columns of its key, as texts."""
READ_OTHERWISE = (bool, np.bool_, float, np.floating, datetime)
"""Of these a column is read as other texts than Python's."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoundCells:
    """Pairs of a place and an attribute. A place is a row's number, or what the row holds in the columns of a key."""

    cells: Sequence[tuple[Any, str]]
    key: tuple[str, ...] = ()
    every: bool = False
    """Whether all rows that hold the values are meant, and not the one row that they name."""
    name: str = "the cells"
    """Where they were found, for messages."""
    left_out: int = 0
    """Failures that are of no cell: of a table, or of several columns."""

    @property
    def attributes(self) -> set[str]:
        return {attribute for _, attribute in self.cells}

    def __repr__(self) -> str:
        by = f" by {', '.join(self.key)}" if self.key else ""
        return f"FoundCells({counted(len(self.cells), 'cell')}{by})"


def key_values(places: Sequence[tuple[Any, ...]]) -> list[KeyValues]:
    """Keys as the texts that a table's cells are read as: 51.0 is `51`, as in a column of numbers."""
    return list(zip(*(_as_read(values) for values in zip(*places, strict=True)), strict=True))


def _as_read(values: Sequence[Any]) -> list[str | None]:
    """Values as a column's texts, those of each type by themselves; what is no number and no time is its own text."""
    texts = [None if value is None else str(value) for value in values]
    for kind in {type(value) for value in values if isinstance(value, READ_OTHERWISE)}:
        at = [number for number, value in enumerate(values) if type(value) is kind]
        same = [values[number] if values[number] == values[number] else None for number in at]  # NaN and NaT are null
        engine = embedded_engine()
        read = engine.rows(engine.open(Relation.of({"key": same})), None, ["key"]).column("key").to_pylist()
        for number, text in zip(at, read, strict=True):
            texts[number] = text
    return texts


def numbered(found: FoundCells, source: Source, engine: Engine[Any]) -> list[Cell]:
    """The cells by row number; a key that no row has, or that several have, is a mistake."""
    if not found.key:
        return list(found.cells)
    SchemaError.check_there(found.key, source.columns, source.name)
    if not found.cells:
        return []
    places = list(dict.fromkeys(place for place, _ in found.cells))
    rows = dict(zip(places, _rows(found, places, source, engine), strict=True))
    return [(row, attribute) for place, attribute in found.cells for row in rows[place].tolist()]


def _rows(found: FoundCells, places: list[KeyValues], source: Source, engine: Engine[Any]) -> list[Ints]:
    """The rows of each place."""
    columns = zip(*places, strict=True)
    values = pa.table({name: pa.array(v, pa.string()) for name, v in zip(found.key, columns, strict=True)})
    index = engine.index(engine.open(source, found.key), found.key, (), {})
    try:
        lines = index.find(values, None if found.every else 1)
    finally:
        index.close()
    line, row = (lines.column(name).to_numpy().astype(np.int64) for name in ("line", "row"))
    often = np.bincount(line, minlength=len(places))
    _check_one_row_each(found, places, often, source)
    return np.split(row, np.cumsum(often)[:-1])


def _check_one_row_each(found: FoundCells, places: list[KeyValues], often: Ints, source: Source) -> None:
    missing = np.flatnonzero(often == 0)
    if len(missing):
        some = _shown(found.key, places[missing[0]])
        raise InputError(
            f"{found.name}: {len(missing):,} of {counted(len(places), 'key')} in no row of {source.name}, such as "
            f"{some}; was another table looked at?"
        )
    doubled = np.flatnonzero(often > 1)
    if len(doubled) and not found.every:
        some = _shown(found.key, places[doubled[0]])
        raise InputError(
            f"{found.name}: {len(doubled):,} of {counted(len(places), 'key')} in more than one row of {source.name}, "
            f"such as {some}; give a key that tells rows apart, or rows by number"
        )


def _shown(key: tuple[str, ...], place: KeyValues) -> str:
    return ", ".join(f"{name} = {(value or '')[:40]!r}" for name, value in zip(key, place, strict=True))
