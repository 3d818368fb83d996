"""The sold and Y columns of a relation that stays on the engine: their values, and how often each occurs."""

from __future__ import annotations

from typing import Any

from pacas.engine.contract import Engine
from pacas.provider.column import Column
from pacas.provider.terms import Terms


def protected_columns(engine: Engine[Any], table: Any, terms: Terms) -> dict[str, Column]:
    """The values of sold and Y columns, checked (D1, D3)."""
    columns = {}
    for attribute in terms.protected:
        values, counts = engine.histogram(table, [attribute], {}).by_text()
        hierarchy = terms.hierarchies.get(attribute)
        ground = hierarchy.ground_labels if hierarchy else []
        columns[attribute] = Column.counted(attribute, values, counts, hierarchy, ground)
    terms.check_values(columns)
    return columns
