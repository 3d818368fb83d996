"""A hierarchy for each column of a table that one can be told for."""

from __future__ import annotations

from collections.abc import Iterable

from pacas.core.dependency import FunctionalDependency
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.hierarchies.suggested import SuggestedHierarchy


def suggest_hierarchies(
    table: CodedTable, dependencies: Iterable[FunctionalDependency] = ()
) -> dict[str, SuggestedHierarchy]:
    """By column; `dependencies` are those between columns that may make chains (City → County → State)."""
    return {}
