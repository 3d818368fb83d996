"""What a caller of `SafeClean` gives as cells: pairs, a table, or another tool's own result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from pacas.client.found.cell_tables import INDEX, PANDERA, cells_of_table, is_pandera
from pacas.client.found.found_cells import FoundCells, key_values
from pacas.client.found.great_expectations import cells_of_validation, is_validation_result
from pacas.core.relation import ArrowTabular, Relation
from pacas.errors import InputError

GivenCells = Iterable[tuple[Any, str]] | Relation | ArrowTabular | Mapping[str, Any]
"""(row, attribute) or (key, attribute) pairs; a table that names cells; Great Expectations' validation result."""


def as_found_cells(given: GivenCells | None, key: str | Sequence[str] | None) -> FoundCells:
    """The cells that are given; a key says which columns name rows, in place of numbers."""
    columns = (key,) if isinstance(key, str) else tuple(key or ())
    if given is None:
        return FoundCells(())
    document: Any = given.to_json_dict() if hasattr(given, "to_json_dict") else given
    if is_validation_result(document):
        return cells_of_validation(document, "the validation result")
    if isinstance(given, Relation | ArrowTabular | Mapping):
        return cells_of_table(_table(given, columns), "the table of cells", columns)
    if isinstance(given, str | PathLike):
        raise InputError(f"cells: {str(given)!r} is a name; give the table that it names, or (row, attribute) pairs")
    pairs = list(given)
    if not columns:
        return FoundCells(pairs)
    places = key_values([_place(place, columns) for place, _ in pairs])
    return FoundCells(list(zip(places, (attribute for _, attribute in pairs), strict=True)), columns)


def _table(given: Any, key: tuple[str, ...]) -> Relation:
    """A table; of pandera's frame only what names cells: its failure cases are values of many types."""
    names = list(getattr(given, "columns", ()))
    if not isinstance(given, Relation | Mapping) and is_pandera(names):
        given = given[[*PANDERA, *(column for column in (INDEX, *key) if column in names)]]
    return Relation.of(given)


def _place(place: Any, key: tuple[str, ...]) -> tuple[Any, ...]:
    values: tuple[Any, ...] = place if isinstance(place, tuple) else (place,)
    if len(values) != len(key):
        raise InputError(f"a cell is named by {', '.join(key)} and its attribute, as in (({len(key)} values), 'MED')")
    return values
