"""From the oracles' queries to the package's."""

from __future__ import annotations

from oracles.worlds import Query
from pacas.core.query import Condition, From, GeneralizedQuery, Output, QueryColumn


def to_query(query: Query) -> GeneralizedQuery:
    return GeneralizedQuery(
        tuple(Output(_column(column), level) for column, level in query.outputs),
        tuple(
            Condition(
                _column(left), "<>" if sign == "!=" else sign, right if isinstance(right, str) else _column(right)
            )
            for left, sign, right in query.conditions
        ),
        tuple(From(name, alias) for alias, name in query.sources),
    )


def _column(column: tuple[str, str]) -> QueryColumn:
    alias, attribute = column
    return QueryColumn(attribute, alias)
