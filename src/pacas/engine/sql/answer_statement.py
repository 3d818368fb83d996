"""A generalized query as SQL: each relation cut down to what the query needs of it, then joined.

The columns at their levels come from small tables (value, label), joined in before the relations meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import pyarrow as pa

from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.core.query import MAIN, Condition, GeneralizedQuery, QueryColumn
from pacas.engine.contract import Hierarchies
from pacas.engine.sql.statements import OpenedRelation, Sql, distinct_values, literal

Recode = Callable[..., str]
"""(table, attribute, hierarchy, level) → the name of a table (value, label): each value at that level.

A value that is not in the table is at the level what it is below.
"""


@contextmanager
def recoding(
    sql: Sql, tables: Mapping[str, OpenedRelation], deltas: str | None = None, *, by_hierarchy: bool = False
) -> Iterator[Recode]:
    """While a query over the tables is answered: a maker of tables (value, label), each value at a level.

    The values are those of a column and, in the main relation, of its deltas; or `by_hierarchy` the hierarchy's own,
    unless they are numbers, which have several spellings.
    """

    def recode(table: OpenedRelation, attribute: str, hierarchy: Hierarchy, level: int) -> str:
        values: Sequence[str | None] = hierarchy.labels
        if hierarchy.numeric or not by_hierarchy:
            relations = [table.sql_name, deltas] if deltas and table is tables.get(MAIN) else [table.sql_name]
            values = distinct_values(sql, table.sql_column(attribute), *relations)
        known = hierarchy.admit(values)
        labels = [known.label(code) for code in known.generalize(known.encode(values), level)]
        recoded = pa.table({"value": pa.array(values, pa.string()), "label": pa.array(labels, pa.string())})
        return stack.enter_context(sql.given(recoded))

    with ExitStack() as stack:
        yield recode


def answer_sql(
    query: GeneralizedQuery, tables: Mapping[str, OpenedRelation], hierarchies: Hierarchies, recode: Recode
) -> str:
    """The statement whose rows are the answers of `query`."""
    outline = Outline(query, tables, hierarchies, recode)
    cuts = [f"(SELECT {o.listed('1')} {o.source(o.table.sql_name)}) AS {o.name}" for o in outline.occurrences]
    named = ", ".join(f'{sql} AS "{i}"' for i, sql in enumerate(outline.outputs))
    order = ", ".join(f'"{i}" NULLS LAST' for i in range(len(outline.outputs)))
    return f"SELECT DISTINCT {named} FROM {' CROSS JOIN '.join(cuts)}{where(outline.conditions)} ORDER BY {order}"


class Occurrence:
    """One relation of a query under one short name: what the query keeps of its rows, and shows of them outside."""

    def __init__(
        self, name: str, relation: str, table: OpenedRelation, hierarchies: Hierarchies, recode: Recode
    ) -> None:
        self.name = name
        self.relation = relation
        self.table = table
        self.columns: dict[str, str] = {}
        """Expressions over the relation, and what they are called outside."""
        self.conditions: list[str] = []
        self._hierarchies = hierarchies
        self._recode = recode
        self._labels: dict[tuple[str, int], str] = {}
        self._joins: list[str] = []

    def shown(self, attribute: str, level: int) -> str:
        """A column at a level, for use outside."""
        called = self.columns.setdefault(self.value(attribute, level), f"x{len(self.columns)}")
        return f"{self.name}.{called}"

    def listed(self, *others: str) -> str:
        """What a cut selects: the columns shown outside, and others."""
        return ", ".join([*(f"{sql} AS {called}" for sql, called in self.columns.items()), *others])

    def source(self, relation: str) -> str:
        """The rows of a relation like this one (`FROM …`) that fulfil the conditions on it alone."""
        return f"FROM {relation} AS t {' '.join(self._joins)}{where(self.conditions)}"

    def value(self, attribute: str, level: int) -> str:
        """A column at a level, for use inside."""
        hierarchy = self._hierarchies.get(attribute)
        tree = hierarchy or Hierarchy.flat(())
        tree.check_level(level, f"the hierarchy of {attribute!r}")
        if level == tree.height:
            return literal(tree.root_label)
        plain = f"t.{self.table.sql_column(attribute)}"
        if level == 0 and not tree.numeric:
            return plain
        if (attribute, level) not in self._labels:
            joined = self._labels[attribute, level] = f"r{len(self._joins)}"
            labels = self._recode(self.table, attribute, tree, level)
            self._joins.append(f"LEFT JOIN {labels} AS {joined} ON {plain} IS NOT DISTINCT FROM {joined}.value")
        return f"coalesce({self._labels[attribute, level]}.label, {plain})"


class Outline:
    """A query taken apart: its relations, each with the conditions on it alone, and what holds between them."""

    def __init__(
        self, query: GeneralizedQuery, tables: Mapping[str, OpenedRelation], hierarchies: Hierarchies, recode: Recode
    ) -> None:
        resolved = query.resolve({name: table.columns for name, table in tables.items()})
        self._hierarchies = hierarchies
        self._by_alias = {
            source.alias: Occurrence(f"q{i}", source.relation, tables[source.relation], hierarchies, recode)
            for i, source in enumerate(query.relations)
        }
        self.occurrences = list(self._by_alias.values())
        self.outputs = [self._of(o.column).shown(o.column.attribute, o.level) for o in resolved.outputs]
        self.conditions: list[str] = []
        for condition in resolved.conditions:
            self._add(condition)

    def _of(self, column: QueryColumn) -> Occurrence:
        return self._by_alias[str(column.relation)]

    def _add(self, condition: Condition) -> None:
        """Put a condition where it belongs: into the one relation that it speaks of, or between two."""
        left, right = condition.left, condition.right
        inside = self._of(left)
        if not isinstance(right, QueryColumn):
            constant = literal(self._constant(left.attribute, right))
            inside.conditions.append(_compare(inside.value(left.attribute, 0), condition.operator, constant))
        elif self._of(right) is inside:
            sides = inside.value(left.attribute, 0), inside.value(right.attribute, 0)
            inside.conditions.append(_compare(sides[0], condition.operator, sides[1]))
        else:
            sides = inside.shown(left.attribute, 0), self._of(right).shown(right.attribute, 0)
            self.conditions.append(_compare(sides[0], condition.operator, sides[1]))

    def _constant(self, attribute: str, constant: str) -> str:
        hierarchy = self._hierarchies.get(attribute)
        return canonical_number(constant) if hierarchy and hierarchy.numeric else constant


def where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _compare(left: str, operator: str, right: str) -> str:
    """Equality is of texts; an order is of numbers where both sides are numbers, else of texts."""
    if operator in ("=", "<>"):
        return f"{left} {operator} {right}"
    numbers = f"TRY_CAST({left} AS DOUBLE) {operator} TRY_CAST({right} AS DOUBLE)"
    return f"coalesce({numbers}, {left} {operator} {right})"
