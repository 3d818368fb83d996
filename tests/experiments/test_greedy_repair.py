"""Greedy-Repair does what its literal transcription does, where dependencies do not meet."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_fds, to_relation
from oracles.cleaning import Dependency
from oracles.greedy_repair import MILLIONTHS, consistent, distance, edits
from oracles.greedy_repair import greedy_repair as literal
from oracles.tree import Value

from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, SchemaError
from pacas.experiments.baselines import class_values
from pacas.experiments.baselines.class_values import EditCosts
from pacas.experiments.baselines.greedy_repair import Update, greedy_repair, meet, transform
from pacas.experiments.datasets import clinical, discharges, food
from pacas.experiments.datasets.census import ADULT_FDS, CENSUS_FDS
from pacas.experiments.datasets.load import SYNTHETIC, load

ENGINE = DuckEngine(threads=1)

Rows = list[dict[str, Value]]

WORDS = ["aspirin", "asprin", "aspirni", "ibuprofen", "a", "*", None]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Rows, list[int]]:
    """Few values, so that groups are large, of which some are alike; and weights."""
    size = draw(st.integers(1, 9))
    column = st.lists(st.sampled_from(WORDS), min_size=size, max_size=size)
    columns = [draw(column) for _ in "ABCD"]
    weights = draw(st.just([1] * size) | st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return [dict(zip("ABCD", row, strict=True)) for row in zip(*columns, strict=True)], weights


def compare(rows: Rows, fds: list[Dependency], weights: list[int]) -> None:
    repaired = greedy_repair(to_relation(rows), to_fds(fds), weights=weights, engine=ENGINE)
    expected = literal(rows, fds, weights)
    found: Rows = repaired.relation.table.to_pylist()
    assert found == expected
    assert consistent(found, fds)
    changed = [(i, a) for i, row in enumerate(rows) for a in row if row[a] != expected[i][a]]
    assert sorted((i, u.attribute) for u in repaired.updates for i in u.rows.tolist()) == changed
    cost = sum(weights[i] * distance(rows[i][a], expected[i][a]) for i, a in changed)
    assert repaired.cost == cost / MILLIONTHS


APART = st.sampled_from(
    [
        [Dependency(("A",), "B")],
        [Dependency(("A", "C"), "D")],
        [Dependency(("A",), "B"), Dependency(("A", "C"), "D")],
        [Dependency(("D", "A"), "C"), Dependency(("D",), "B")],
    ]
)
"""Dependencies whose right sides no other one looks at."""


@examples(200)
@given(cases(), APART)
def test_a_repair_is_the_literal_one(case: tuple[Rows, list[int]], fds: list[Dependency]) -> None:
    compare(case[0], fds, case[1])


@examples(60)
@given(case=cases(), fds=APART)
def test_neither_blocks_nor_the_table_of_costs_matter(case: tuple[Rows, list[int]], fds: list[Dependency]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_values, "PAIRS", 3)
        patch.setattr(class_values, "MOST_IN_A_TABLE", 0)
        compare(case[0], fds, case[1])


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_costs_are_normalised_edits(one: str, other: str) -> None:
    costs = EditCosts([one, other])
    found = costs.between(np.array([0, 1, 0]), np.array([1, 0, 0])).tolist()
    longest = max(len(one), len(other), 1)
    assert found == [round(edits(one, other) * MILLIONTHS / longest)] * 2 + [0]


def test_a_swap_is_one_edit_and_a_null_is_furthest() -> None:
    costs = EditCosts(["form", "from", None])
    assert costs.between(np.array([0, 0, 2]), np.array([1, 2, 2])).tolist() == [250_000, 1_000_000, 0]


def repaired(columns: dict[str, Any], *fds: str, weights: list[int] | None = None) -> dict[str, list[Any]]:
    found = greedy_repair(Relation.of(columns), fds, weights=weights, engine=ENGINE)
    return dict(found.relation.table.to_pydict())


def test_the_nearest_value_wins_where_no_value_is_frequent() -> None:
    values = ["ibuprofen", "asprin", "aspirin", "aspirn"]
    assert repaired({"X": ["x"] * 4, "B": values}, "X -> B")["B"] == ["asprin"] * 4


def test_weight_outvotes_number() -> None:
    columns = {"X": ["x"] * 3, "B": ["a", "b", "b"]}
    assert repaired(columns, "X -> B")["B"] == ["b"] * 3
    assert repaired(columns, "X -> B", weights=[3, 1, 1])["B"] == ["a"] * 3


def test_a_tie_goes_to_the_value_that_stands_first() -> None:
    assert repaired({"X": ["x", "x"], "B": ["b", "a"]}, "X -> B")["B"] == ["b", "b"]


def test_a_null_is_overwritten_and_never_written() -> None:
    assert repaired({"X": ["x"] * 3, "B": [None, None, "a"]}, "X -> B")["B"] == ["a"] * 3
    assert repaired({"X": [None] * 2, "B": ["b", "a"]}, "X -> B")["B"] == ["b", "a"]


@pytest.mark.parametrize("other", ["C -> B", "B -> C", "C -> A"])
def test_dependencies_that_meet_are_refused(other: str) -> None:
    relation = Relation.of({"A": ["x"], "B": ["y"], "C": ["z"]})
    with pytest.raises(InputError, match=rf"'A -> B' and '{other}' meet: a repair by one"):
        greedy_repair(relation, ["A -> B", other], engine=ENGINE)


def test_no_dependencies_of_the_evaluation_meet() -> None:
    synthetic = [load(name, rows=50).fds for name in SYNTHETIC]
    for fds in (CENSUS_FDS, ADULT_FDS, clinical.FDS, discharges.FDS, food.FDS, *synthetic):
        assert not [1 for one, other in combinations(fds, 2) if meet(one, other)]


def test_a_consistent_relation_is_returned_as_it_is() -> None:
    relation = Relation.of({"X": ["x", "y"], "B": ["a", "b"]})
    found = greedy_repair(relation, "X -> B", engine=ENGINE)
    assert found.relation is relation
    assert (found.updates, found.cost, found.written) == ((), 0.0, 0)


def test_a_column_keeps_its_type_and_the_others_stay() -> None:
    relation = Relation.of({"X": [1, 1, 1], "B": [7, 7, 8], "C": ["", None, "c"]})
    found = greedy_repair(relation, "X -> B", engine=ENGINE).relation.table
    assert found.schema == relation.table.schema
    assert found.column("B").to_pylist() == [7, 7, 7]
    assert found.column("C").equals(relation.table.column("C"))


def test_an_update_of_another_type_makes_text() -> None:
    relation = Relation.of({"B": [7, 8]})
    changed = transform(relation, [Update("B", "seven", np.array([0]))], engine=ENGINE)
    assert changed.table.column("B").equals(pa.chunked_array([["seven", "8"]]))


def test_bad_weights_and_columns_are_named() -> None:
    relation = Relation.of({"X": ["x", "x"], "B": ["a", "b"]})
    with pytest.raises(InputError, match="1 weights for 2 rows"):
        greedy_repair(relation, "X -> B", weights=[1])
    with pytest.raises(InputError, match="whole number"):
        greedy_repair(relation, "X -> B", weights=[1, -1])
    with pytest.raises(SchemaError, match="no column 'Y'"):
        greedy_repair(relation, "Y -> B")
