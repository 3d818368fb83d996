"""A generalized query as SQL: the columns at their levels come from small tables (value, label), joined in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.core.query import Column, Condition, GeneralizedQuery
from pacas.engine.contract import Hierarchies
from pacas.engine.duck_source import literal
from pacas.errors import HierarchyError


class Opened(Protocol):
    """What this module needs to know of an opened relation."""

    sql_name: str
    columns: tuple[str, ...]

    def sql_column(self, attribute: str) -> str: ...


Recode = Callable[..., str]
"""(table, attribute, hierarchy, level) → the name of a table (value, label) that holds each value at that level."""


def answer_sql(query: GeneralizedQuery, tables: Mapping[str, Opened], hierarchies: Hierarchies, recode: Recode) -> str:
    """The statement whose rows are the answers of `query`."""
    return _Statement(query, tables, hierarchies, recode).text()


class _Statement:
    """One statement in the making: its relations by alias, and the label tables joined so far."""

    def __init__(
        self, query: GeneralizedQuery, tables: Mapping[str, Opened], hierarchies: Hierarchies, recode: Recode
    ) -> None:
        self.query = query.resolve({name: table.columns for name, table in tables.items()})
        self.hierarchies = hierarchies
        self.recode = recode
        self.joins: list[str] = []
        self.opened = {source.alias: tables[source.relation] for source in query.relations}
        self.aliases = {alias: f"q{i}" for i, alias in enumerate(self.opened)}

    def text(self) -> str:
        outputs = [self._at_level(output.column, output.level) for output in self.query.outputs]
        conditions = [self._condition(c) for c in self.query.conditions]
        named = ", ".join(f'{sql} AS "{i}"' for i, sql in enumerate(outputs))
        relations = " CROSS JOIN ".join(f"{t.sql_name} AS {self.aliases[alias]}" for alias, t in self.opened.items())
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        order = ", ".join(f'"{i}" NULLS LAST' for i in range(len(outputs)))
        return f"SELECT DISTINCT {named} FROM {relations} {' '.join(self.joins)}{where} ORDER BY {order}"

    def _at_level(self, column: Column, level: int) -> str:
        alias = str(column.relation)
        hierarchy = self.hierarchies.get(column.attribute)
        height = hierarchy.height if hierarchy else 1
        if level > height:
            raise HierarchyError.no_such_level(level, height, f"the hierarchy of {column.attribute!r}")
        plain = f"{self.aliases[alias]}.{self.opened[alias].sql_column(column.attribute)}"
        if level == 0 and (hierarchy is None or not hierarchy.numeric):
            return plain
        labels = self.recode(self.opened[alias], column.attribute, hierarchy or Hierarchy.flat(()), level)
        joined = f"r{len(self.joins)}"
        self.joins.append(f"LEFT JOIN {labels} AS {joined} ON {plain} IS NOT DISTINCT FROM {joined}.value")
        return f"{joined}.label"

    def _condition(self, condition: Condition) -> str:
        left = self._at_level(condition.left, 0)
        if isinstance(condition.right, Column):
            return _compare(left, condition.operator, self._at_level(condition.right, 0))
        hierarchy = self.hierarchies.get(condition.left.attribute)
        constant = canonical_number(condition.right) if hierarchy and hierarchy.numeric else condition.right
        return _compare(left, condition.operator, literal(constant))


def _compare(left: str, operator: str, right: str) -> str:
    """Equality is of texts; an order is of numbers where both sides are numbers, else of texts."""
    if operator in ("=", "<>"):
        return f"{left} {operator} {right}"
    numbers = f"TRY_CAST({left} AS DOUBLE) {operator} TRY_CAST({right} AS DOUBLE)"
    return f"coalesce({numbers}, {left} {operator} {right})"
