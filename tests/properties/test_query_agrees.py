"""Answers of generalized queries are those of nested loops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchies, to_relation
from oracles.queries import OPERATORS, evaluate
from oracles.strategies import relations
from oracles.tree import Tree, Value

from pacas.core.query import Condition, From, GeneralizedQuery, Output, QueryColumn
from pacas.engine.duck.engine import DuckEngine

ENGINE = DuckEngine(threads=1)


@st.composite
def cases(draw: st.DrawFn) -> tuple[GeneralizedQuery, dict[str, list[dict[str, Value]]], dict[str, Tree]]:
    """One or two relations that share the columns B and C, joined with themselves or with each other."""
    rows, trees = draw(relations(attributes="ABC", max_rows=8))
    other = [{"B": r["B"], "C": r["C"], "D": r["A"]} for r in draw(st.permutations(rows))]
    data = {"relation": rows, "doctors": other}
    sources = draw(st.lists(st.sampled_from(sorted(data)), min_size=1, max_size=2))
    froms = tuple(From(name, alias) for name, alias in zip(sources, "pq", strict=False))
    columns = st.sampled_from([QueryColumn(a, f.alias) for f in froms for a in data[f.relation][0]])
    outputs = []
    for column in draw(st.lists(columns, min_size=1, max_size=3)):
        height = trees[column.attribute].height if column.attribute in trees else 1
        outputs.append(Output(column, draw(st.integers(0, height))))
    constants = st.sampled_from(["a", "b", "*", "v0", "v1", "1", "3", "2.0", "u1", "05"])
    conditions = st.builds(Condition, columns, st.sampled_from(sorted(OPERATORS)), constants | columns)
    return GeneralizedQuery(tuple(outputs), tuple(draw(st.lists(conditions, max_size=3))), froms), data, trees


def _plain(column: QueryColumn | str) -> tuple[str, str] | str:
    return column if isinstance(column, str) else (str(column.relation), column.attribute)


@examples(80)
@given(cases())
def test_answers_agree_with_nested_loops(
    case: tuple[GeneralizedQuery, dict[str, list[dict[str, Value]]], dict[str, Tree]],
) -> None:
    query, data, trees = case
    expected = evaluate(
        [(_plain(o.column), o.level) for o in query.outputs],  # type: ignore[misc]
        [(_plain(c.left), c.operator, _plain(c.right)) for c in query.conditions],  # type: ignore[misc]
        {f.alias: data[f.relation] for f in query.relations},
        trees,
    )
    tables = {name: ENGINE.open(to_relation(rows)) for name, rows in data.items()}
    table = ENGINE.answer(query, tables, to_hierarchies(trees))
    found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert len(found) == len(set(found)), "answers are a set"
    assert set(found) == expected
    assert found == sorted(found, key=lambda answer: [(v is None, v or "") for v in answer])
