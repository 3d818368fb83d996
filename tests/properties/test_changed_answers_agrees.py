"""The neighbours that answer a query differently are those of the definition: make each neighbour, and ask it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchies, to_relation
from oracles.cleaning import Row
from oracles.queries import OPERATORS
from oracles.worlds import Query, World, queries, worlds

from pacas.core.query import Condition, From, GeneralizedQuery, Output, QueryColumn
from pacas.engine.contract import NeighbourDiffs
from pacas.engine.duck.engine import DuckEngine

ENGINE = DuckEngine(threads=1)


def to_query(query: Query) -> GeneralizedQuery:
    def column(side: Any) -> Any:
        return side if isinstance(side, str) else QueryColumn(side[1], side[0])

    return GeneralizedQuery(
        tuple(Output(column(named), level) for named, level in query.outputs),
        tuple(Condition(column(left), sign, column(right)) for left, sign, right in query.conditions),
        tuple(From(name, alias) for alias, name in query.sources),
    )


def net_deltas(world: World) -> NeighbourDiffs:
    """Per neighbour the rows of R that it has less often, and the rows that it has more often, than R has."""
    columns = list(world.rows[0])
    before = Counter(tuple(row[a] for a in columns) for row in world.rows)
    entries: list[tuple[int, int, tuple[str | None, ...]]] = []
    for number, instance in world.support().items():
        after = Counter(tuple(row[a] for a in columns) for row in instance)
        entries += [(number, -1, row) for row in (before - after).elements()]
        entries += [(number, +1, row) for row in (after - before).elements()]
    texts = {a: pa.array([row[i] for _, _, row in entries], pa.string()) for i, a in enumerate(columns)}
    numbers = np.array([number for number, _, _ in entries], dtype=np.int64)
    return NeighbourDiffs(numbers, np.array([sign for _, sign, _ in entries], dtype=np.int8), pa.table(texts))


def gross_deltas(world: World) -> NeighbourDiffs:
    """The same as whole relations: each neighbour removes all rows of R, and adds all rows of its own."""
    columns = list(world.rows[0])
    entries: list[tuple[int, int, Row]] = [(number, -1, row) for number in world.support() for row in world.rows]
    entries += [(number, +1, row) for number, instance in world.support().items() for row in instance]
    texts = {a: pa.array([row[a] for _, _, row in entries], pa.string()) for a in columns}
    numbers = np.array([number for number, _, _ in entries], dtype=np.int64)
    return NeighbourDiffs(numbers, np.array([sign for _, sign, _ in entries], dtype=np.int8), pa.table(texts))


@st.composite
def joined_often(draw: st.DrawFn, world: World) -> Query:
    """A query with a further occurrence of the relation or of `doctors`, and a comparison across."""
    query = draw(queries(world))
    name, columns = draw(st.sampled_from([("relation", list(world.rows[0])), ("doctors", ["G", "D"])]))
    alias, relation = draw(st.sampled_from(query.sources))
    known = list(world.rows[0]) if relation == "relation" else ["G", "D"]
    left, right = (alias, draw(st.sampled_from(known))), ("o", draw(st.sampled_from(columns)))
    sign = draw(st.sampled_from(["=", "=", "=", *sorted(OPERATORS)]))
    outputs = [*query.outputs, (("o", draw(st.sampled_from(columns))), 0)][draw(st.integers(0, 1)) :]
    return Query(outputs, [*query.conditions, (left, sign, right)], [*query.sources, ("o", name)])


@examples(80)
@given(st.data())
def test_changed_answers_agree_with_asking_each_neighbour(data: st.DataObject) -> None:
    world = data.draw(worlds())
    tables = {name: ENGINE.open(to_relation(rows)) for name, rows in {"relation": world.rows, **world.others}.items()}
    hierarchies = to_hierarchies(world.trees)
    deltas = data.draw(st.sampled_from([net_deltas, net_deltas, gross_deltas]))(world)
    for query in data.draw(st.lists(queries(world) | joined_often(world), min_size=1, max_size=2)):
        ask = query.question(world)
        answers = ask(world.rows)
        expected = [number for number, instance in world.support().items() if ask(instance) != answers]
        assert ENGINE.changed_answers(to_query(query), tables, deltas, hierarchies).tolist() == expected
