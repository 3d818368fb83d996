"""A role for each column of a table."""

from __future__ import annotations

from pacas.suggest.coded_table import CodedTable
from pacas.suggest.roles.suggested import SuggestedRole


def suggest_roles(table: CodedTable) -> list[SuggestedRole]:
    """In the order of the columns."""
    return []
