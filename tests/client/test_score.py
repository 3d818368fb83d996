"""How near a repaired relation is to the truth: against the literal distance, and on cases that can be counted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchies, to_relation
from oracles.distance import distance, penalty
from oracles.strategies import trees, values_of
from oracles.tree import Tree, Value

from pacas.client.outcome.score import CellCounts, score, shares
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.questions import relation_distance
from pacas.errors import InputError

ENGINE = DuckEngine(threads=1)

TREE = Hierarchy.from_rows([("a", "AB", "*"), ("b", "AB", "*"), ("c", "CD", "*"), ("d", "CD", "*")])

Rows = list[dict[str, Value]]


@st.composite
def triples(draw: st.DrawFn) -> tuple[Rows, Rows, Rows, dict[str, Tree]]:
    """A repaired, a true and a dirty relation, of which many cells are alike; one attribute has no tree."""
    having = {"A": draw(trees())}
    size = draw(st.integers(1, 9))
    columns: dict[str, tuple[list[Value], ...]] = {}
    for a in "AB":
        values = values_of(having[a]) if a in having else st.sampled_from(["a", "b", "c", "*", None])
        truth = draw(st.lists(values, min_size=size, max_size=size))
        dirty = [draw(st.just(v) | values) for v in truth]
        repaired = [draw(st.sampled_from(pair) | values) for pair in zip(truth, dirty, strict=True)]
        columns[a] = repaired, truth, dirty
    relations: list[Rows] = [[{a: columns[a][which][i] for a in "AB"} for i in range(size)] for which in range(3)]
    return relations[0], relations[1], relations[2], having


FLAT = Tree([["a", "*"], ["b", "*"], ["c", "*"]])


@examples(150)
@given(triples())
def test_a_score_is_what_the_definitions_say(case: tuple[Rows, Rows, Rows, dict[str, Tree]]) -> None:
    repaired, truth, dirty, having = case
    found = score(to_relation(repaired), to_relation(truth), to_relation(dirty), to_hierarchies(having), engine=ENGINE)
    for a in "AB":
        tree = having.get(a, FLAT)
        column = tuple(row[a] for row in truth)
        cells = [tuple(rows[i][a] for rows in (repaired, truth, dirty)) for i in range(len(truth))]
        scored = found.attributes[a]
        assert scored.repair_error == pytest.approx(sum(distance(tree, column, v, w) for v, w, _ in cells))
        assert scored.repair_error_before == pytest.approx(sum(distance(tree, column, d, w) for _, w, d in cells))
        assert scored.counts == literal_counts(tree, column, cells)


def literal_counts(tree: Tree, column: tuple[Value, ...], cells: list[tuple[Value, ...]]) -> CellCounts:
    """One cell after the other."""
    known = [tuple(map(tree.key, cell)) for cell in cells]
    cells = [cell for cell in known if tree.is_ground(cell[1])]
    changed = [(v, w) for v, w, d in cells if v != d]
    root = penalty(tree, column, tree.root)
    levels, quarters = [0] * (tree.height + 1), [0, 0, 0, 0]
    for v, w in changed:
        levels[tree.level(v)] += 1
        normalised = distance(tree, column, v, w) / root if root else 0
        quarters[next(q for q in range(4) if q == 3 or normalised <= (q + 1) / 4 + 1e-9)] += 1
    return CellCounts(
        cells=len(cells),
        wrong=sum(d != w for _, w, d in cells),
        wrong_after=sum(v != w for v, w, _ in cells),
        changed=len(changed),
        correct=sum(v == w for v, w in changed),
        general_correct=sum(v != w and v is not None and tree.precedes(w, v) for v, w in changed),
        levels=tuple(levels),
        quarters=tuple(quarters),
    )


@examples(40)
@given(triples())
def test_the_repair_error_is_the_distance_of_the_relations(case: tuple[Rows, Rows, Rows, dict[str, Tree]]) -> None:
    repaired, truth = (to_relation(rows) for rows in case[:2])
    trees_ = to_hierarchies(case[3])
    found = score(repaired, truth, hierarchies=trees_, engine=ENGINE)
    expected = relation_distance(repaired, truth, trees_, engine=ENGINE)
    assert {a: s.repair_error for a, s in found.attributes.items()} == pytest.approx(expected)
    assert found.repair_error == pytest.approx(sum(expected.values()))
    assert found.total.counts is None


def scored(repaired: Any, truth: Any, dirty: Any) -> CellCounts:
    counts = score({"B": repaired}, {"B": truth}, {"B": dirty}, {"B": TREE}, engine=ENGINE).total.counts
    assert counts is not None
    return counts


def test_precision_recall_and_f1() -> None:
    """Four wrong cells. Five are changed: two made right, one general, one made wrong, one still wrong."""
    counts = scored(
        repaired=["a", "b", "AB", "d", "c", "a", "d"],
        truth=["a", "b", "a", "a", "d", "a", "d"],
        dirty=["c", "c", "b", "b", "d", "a", "d"],
    )
    assert (counts.cells, counts.wrong, counts.changed, counts.correct) == (7, 4, 5, 2)
    assert (counts.general_correct, counts.wrong_after) == (1, 3)
    assert (counts.precision, counts.recall, counts.f1) == (2 / 5, 2 / 4, 4 / 9)
    assert counts.levels == (4, 1, 0)
    assert counts.level_shares == [0.8, 0.2, 0.0]


def test_the_root_is_one_away_and_a_wrong_value_no_further() -> None:
    counts = scored(["*", "c", "a", "AB"], ["a", "a", "a", "b"], ["b", "b", "b", "a"])
    assert counts.quarters[0] == 1
    assert counts.quarters[3] == 3  # the column is a a a b, so that AB loses as much as the root
    uniform = scored(["*", "AB", "c", "a"], ["a", "b", "c", "d"], ["b", "a", "d", "c"])
    assert uniform.quarters == (2, 0, 0, 2)  # E(AB) = ½ of E(*) = 2, times P = ½


def test_what_was_never_wrong_and_never_changed_is_counted_and_nothing_else() -> None:
    found = score({"B": ["a", "b"]}, {"B": ["a", "b"]}, {"B": ["a", "b"]}, {"B": TREE}, engine=ENGINE)
    counts = found.total.counts
    assert counts is not None
    assert (counts.cells, counts.wrong, counts.changed) == (2, 0, 0)
    assert (counts.precision, counts.recall, counts.f1) == (None, None, None)
    assert found.as_dict()["attributes"] == {}
    assert "undefined" in repr(found)


def test_the_same_number_in_another_spelling_is_right() -> None:
    ages = Hierarchy.from_rows([("1", "*"), ("2", "*")], numeric=True)
    found = score({"B": ["1.0", "2"]}, {"B": ["1", "2"]}, {"B": ["2", "2.00"]}, {"B": ages}, engine=ENGINE)
    counts = found.total.counts
    assert counts is not None
    assert (found.repair_error, counts.wrong, counts.changed, counts.correct) == (0, 1, 1, 1)


def test_only_columns_that_all_have_are_compared() -> None:
    found = score({"A": ["x"], "B": ["y"]}, {"B": ["y"], "C": ["z"]}, engine=ENGINE)
    assert list(found.attributes) == ["B"]
    assert repr(found) == "Score(repair error 0.000)"
    assert found.as_dict() == {"repair_error": 0.0, "attributes": {}}


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ({"B": ["a", "b"]}, "the table has 1 rows and the table has 2; they are compared row by row"),
        ({"C": ["a"]}, "no column in common"),
    ],
)
def test_another_tables_truth_is_refused(truth: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score({"B": ["a"]}, truth, engine=ENGINE)


def test_counts_of_several_attributes_add_up() -> None:
    total = CellCounts(3, 2, 1, 2, 1, 0, (2, 0), (1, 0, 0, 1)) + CellCounts(1, 1, 0, 1, 1, 0, (1, 0, 0), (0, 1, 0, 0))
    assert total == CellCounts(4, 3, 1, 3, 2, 0, (3, 0, 0), (1, 1, 0, 1))
    assert shares([]) == [] and shares([0, 0]) == [0.0, 0.0]
