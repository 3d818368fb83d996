"""A role for each column of a table: by its words, by its values, and by whom it singles out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pacas.engine.contract import Engine
from pacas.engine.questions import Data
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.kind import Kind
from pacas.suggest.mapping.column_names import words_of
from pacas.suggest.roles.identifying import names_rows, naming_word
from pacas.suggest.roles.singling_out import SinglingOut, singled_out_alone, singling_out, values_shown
from pacas.suggest.roles.suggested import ColumnRole, SuggestedRole
from pacas.suggest.roles.words import KNOWN_TO_OTHERS, SENSITIVE

SHARED_BY = 20
"""Rows that must share a quasi-identifier's value, on the average, to ask what they show."""


def suggest_roles(data: Data | CodedTable, *, engine: Engine[Any] | None = None) -> list[SuggestedRole]:
    """What each column is to the people in a table, in the order of the columns.

    What a name says is a guess: who owns the table knows better.
    """
    table = CodedTable.from_data(data, engine)
    told = {name: _by_itself(column) for name, column in table.columns.items()}
    open_ones = [
        name for name, (role, _) in told.items() if role is ColumnRole.OTHER or role is ColumnRole.QUASI_IDENTIFIER
    ]
    together = singling_out(table, open_ones)
    places = {found.attribute: (place, found) for place, found in enumerate(together, start=1)}
    roles = [_role(column, *told[name], places.get(name)) for name, column in table.columns.items()]
    known = [
        table[one.attribute] for one in roles if one.role is ColumnRole.QUASI_IDENTIFIER and one.values <= _few(table)
    ]
    return [_with_values_shown(one, table[one.attribute], known) for one in roles]


def _with_values_shown(one: SuggestedRole, column: ProfiledColumn, known: Sequence[ProfiledColumn]) -> SuggestedRole:
    if one.role is not ColumnRole.SENSITIVE or not known:
        return one
    return replace(one, shown=min(values_shown(column, by) for by in known))


def _few(table: CodedTable) -> float:
    """Values up to which those of a column are shared by several rows each."""
    return table.rows / SHARED_BY


def _by_itself(column: ProfiledColumn) -> tuple[ColumnRole, str]:
    """What a column's own name and values say, and why."""
    words = set(words_of(column.name))
    if column.kind in (Kind.EMPTY, Kind.CONSTANT):
        return ColumnRole.OTHER, "the same in every row"
    if sensitive := words & SENSITIVE:
        return ColumnRole.SENSITIVE, f"by its name: {min(sensitive)}"
    if names_rows(column):
        return ColumnRole.IDENTIFIER, "it tells nearly every row from every other"
    if naming := naming_word(column):
        return ColumnRole.IDENTIFIER, f"by its name: {naming}"
    if known := words & KNOWN_TO_OTHERS:
        return ColumnRole.QUASI_IDENTIFIER, f"others may know it, by its name: {min(known)}"
    return ColumnRole.OTHER, ""


def _role(column: ProfiledColumn, role: ColumnRole, why: str, place: tuple[int, SinglingOut] | None) -> SuggestedRole:
    alone, values = singled_out_alone(column), len(column.values)
    if place is None:
        return SuggestedRole(column.name, role, why, values, alone)
    number, found = place
    if role is ColumnRole.OTHER:
        role, why = ColumnRole.QUASI_IDENTIFIER, "it singles rows out"
    return SuggestedRole(column.name, role, why, values, alone, number, found.share)
