"""Penalty and distance: agreement with the definitions, and which laws of a distance hold.

δ is a path length: the edge between a value and its parent weighs E(parent) − E(value), which is never negative, and
δ adds the weights on the path between two values. Hence δ is symmetric, δ(v, v) = 0 and the triangle inequality hold
for all triples, unknown values and nulls included. The one law of a metric that fails is "distance 0 only to itself":
a general value is at distance 0 from the only ground value below it that occurs. So δ is a pseudometric.
"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchy
from oracles.distance import distance, penalty
from oracles.strategies import UNKNOWN, trees, values_of
from oracles.tree import Tree

from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import Hierarchy

CLOSE = pytest.approx


@st.composite
def columns(draw: st.DrawFn) -> tuple[Tree, list[str | None]]:
    tree = draw(trees())
    return tree, draw(st.lists(values_of(tree), max_size=12))


def everything(tree: Tree, column: list[str | None]) -> list[str | None]:
    return list(dict.fromkeys([*sorted(tree.known), *column, *UNKNOWN, "never seen", None]))


@examples(50)
@given(columns())
def test_penalties_and_distances_are_the_literal_ones(case: tuple[Tree, list[str | None]]) -> None:
    tree, column = case
    delta = SemanticDistance.of(to_hierarchy(tree), column)
    values, seen = everything(tree, column), tuple(column)
    for v in values:
        assert delta.penalty(v) == CLOSE(penalty(tree, seen, v), abs=1e-9), v
    for v, w in product(values, repeat=2):
        assert delta(v, w) == CLOSE(distance(tree, seen, v, w), abs=1e-9), (v, w)
        expected = tree.root if v is None or w is None else tree.lca(v, w)
        assert delta.lca(v, w) == expected, (v, w)


@examples(50)
@given(columns())
def test_a_column_and_its_counts_give_the_same(case: tuple[Tree, list[str | None]]) -> None:
    tree, column = case
    distinct = list(dict.fromkeys(column))
    one = SemanticDistance.of(to_hierarchy(tree), column)
    other = SemanticDistance.of(to_hierarchy(tree), distinct, [column.count(v) for v in distinct])
    assert one.left_out == other.left_out == sum(not tree.is_ground(v) for v in column)
    for v in everything(tree, column):
        assert one.penalty(v) == CLOSE(other.penalty(v), abs=1e-9)


@examples(50)
@given(columns())
def test_distances_of_many_pairs_at_once_are_those_of_each(case: tuple[Tree, list[str | None]]) -> None:
    tree, column = case
    delta = SemanticDistance.of(to_hierarchy(tree), column)
    pairs = list(product(everything(tree, column), repeat=2))
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    assert delta.between(first, second).tolist() == CLOSE([delta(v, w) for v, w in pairs], abs=1e-9)


@examples(50)
@given(columns())
def test_the_penalty_never_falls_on_the_way_up(case: tuple[Tree, list[str | None]]) -> None:
    tree, column = case
    delta = SemanticDistance.of(to_hierarchy(tree), column)
    for v, w in product(sorted(tree.known), repeat=2):
        if tree.precedes(v, w):
            assert delta.penalty(v) <= delta.penalty(w) + 1e-12
    assert all(delta.penalty(v) == 0 for v in tree.known if tree.is_ground(v))


@examples(50)
@given(columns())
def test_distance_is_a_pseudometric(case: tuple[Tree, list[str | None]]) -> None:
    tree, column = case
    delta = SemanticDistance.of(to_hierarchy(tree), column)
    values = everything(tree, column)
    d = {(v, w): delta(v, w) for v, w in product(values, repeat=2)}
    assert all(x >= 0 for x in d.values())
    assert all(d[v, v] == 0 for v in values)
    assert all(d[v, w] == CLOSE(d[w, v], abs=1e-12) for v, w in d)
    for u, v, w in product(values, repeat=3):
        assert d[u, w] <= d[u, v] + d[v, w] + 1e-9, (u, v, w)


def test_distance_zero_does_not_mean_equal() -> None:
    """Why δ is only a pseudometric: b does not occur, so g tells no less than a."""
    hierarchy = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*"), ("c", "h", "*")])
    delta = SemanticDistance.of(hierarchy, ["a", "a", "c"])
    assert delta("a", "g") == 0
    assert delta("a", "b") == 0
    assert delta("a", "c") > 0


def test_conditional_entropy_alone_would_not_grow_on_the_way_up() -> None:
    """Why the penalty weighs the entropy with the probability: H(h) = 1, but H(*) is less where a is frequent."""
    hierarchy = Hierarchy.from_rows([("a", "g", "*"), ("b", "h", "*"), ("c", "h", "*")])
    delta = SemanticDistance.of(hierarchy, ["a"] * 98 + ["b", "c"])
    assert delta.penalty("h") / 0.02 == CLOSE(1.0)
    assert delta.penalty("*") < 1.0
    assert delta.penalty("h") < delta.penalty("*")


def test_numbers_are_one_value_however_they_are_written() -> None:
    ages = Hierarchy.from_rows([("45", "[41,60]", "*"), ("51", "[41,60]", "*"), ("67", "[61,80]", "*")], numeric=True)
    delta = SemanticDistance.of(ages, ["51", "51.0", "051", "45.00"])
    assert delta("51", "51.0") == 0
    assert delta.penalty("[41,60]") == CLOSE(0.8112781244591328)
    assert delta("45.0", "5.1e1") == CLOSE(2 * 0.8112781244591328)
    text = Hierarchy.from_rows([("45", "[41,60]", "*"), ("51", "[41,60]", "*"), ("67", "[61,80]", "*")])
    assert SemanticDistance.of(text, ["51", "45"])("51", "51.0") > 0


def test_an_empty_column_has_no_penalties() -> None:
    hierarchy = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*")])
    delta = SemanticDistance.of(hierarchy, [])
    assert [delta.penalty(v) for v in ("a", "g", "*", None, "?")] == [0] * 5
    assert delta("a", None) == 0
