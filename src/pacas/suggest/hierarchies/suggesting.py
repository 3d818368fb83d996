"""A hierarchy for each column of a table that one can be told for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pacas.core.builders.labelled_values import labelled_tree
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchies.balance import balance
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine
from pacas.engine.questions import Data
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.dependencies.search import suggest_dependencies
from pacas.suggest.hierarchies.built_tree import DraftHierarchy
from pacas.suggest.hierarchies.categories import flat
from pacas.suggest.hierarchies.chains import ColumnChains
from pacas.suggest.hierarchies.codes import prefixes_of
from pacas.suggest.hierarchies.dates import hours_of, periods_of
from pacas.suggest.hierarchies.families import families_of
from pacas.suggest.hierarchies.numbers import intervals_of
from pacas.suggest.hierarchies.public_lists import listed
from pacas.suggest.hierarchies.suggested import SuggestedHierarchy, has_only_children, what_levels_hide
from pacas.suggest.kind import Kind
from pacas.suggest.roles.identifying import names_rows

BY_KIND = {
    Kind.DATE: periods_of,
    Kind.TIME: hours_of,
    Kind.MEASURE: intervals_of,
    Kind.CODE: prefixes_of,
    Kind.CATEGORY: periods_of,
    Kind.TEXT: periods_of,
}
"""What is tried; categories and texts may be dates with names of months."""
STAY_FLAT = 100
"""Values up to which what is no date, number or code stays flat."""
MOST_VALUES = 100_000
NOT_SUGGESTED = {
    Kind.EMPTY: "no values",
    Kind.CONSTANT: "one value",
    Kind.KEY: "a key: it tells nearly every row apart",
}


def suggest_hierarchies(
    data: Data | CodedTable,
    dependencies: Iterable[str | FunctionalDependency] | None = None,
    *,
    engine: Engine[Any] | None = None,
) -> dict[str, SuggestedHierarchy]:
    """By column, each with where its levels come from and what they hide.

    `dependencies` are those between columns that may make chains (City → County → State); unless given, those that the
    table suggests.
    """
    table = CodedTable.from_data(data, engine)
    if dependencies is None:
        found = suggest_dependencies(table, pairs=False)
        dependencies = [one.fd for one in (*found.strong, *found.redundant)]
    chains = ColumnChains(table, FunctionalDependency.parse_all(dependencies))
    return {
        name: _suggested(column, _draft(table, column, chains))
        for name, column in table.columns.items()
        if why_none(column) is None
    }


def why_none(column: ProfiledColumn) -> str | None:
    """Why a column gets no hierarchy, in words; None if it does."""
    if len(column.values) > MOST_VALUES:
        return f"more than {MOST_VALUES:,} values"
    if names_rows(column):
        return NOT_SUGGESTED[Kind.KEY]
    return NOT_SUGGESTED.get(column.kind)


def _draft(table: CodedTable, column: ProfiledColumn, chains: ColumnChains) -> DraftHierarchy:
    """What is surest first: a public list, other columns, the kind of the values, and else the alphabet or nothing."""
    by_kind = BY_KIND.get(column.kind)
    found = listed(column) or chains.draft(column.name) or (by_kind and by_kind(column))
    if not found and len(column.values) > STAY_FLAT:
        found = families_of(column)
    return found or flat(table, column)


def _suggested(column: ProfiledColumn, draft: DraftHierarchy) -> SuggestedHierarchy:
    tree = draft.hierarchy if draft.options else without_only_children(draft)
    levels = what_levels_hide(tree, column)
    return SuggestedHierarchy(column.name, draft.how, tree, draft.options, levels, draft.alternative, draft.is_ordered)


def without_only_children(draft: DraftHierarchy) -> Hierarchy:
    """Labels that stand for one value join a sibling: who bought one would know the value."""
    tree = draft.hierarchy
    if not has_only_children(tree):
        return tree
    merged = balance(tree, 0, min(2, len(tree.ground_labels)), in_order=draft.is_ordered)
    return labelled_tree({row[0]: row[1:-1] for row in merged.rows()})
