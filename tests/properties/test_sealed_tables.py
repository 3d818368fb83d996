"""Prices and what stays possible, from public knowledge: as the literal definitions say, with the laws they promise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import many_examples
from oracles import criteria as literal
from oracles import sealed
from oracles.bridge import to_hierarchy
from oracles.strategies import criteria, numbered_rows, tree_rows
from oracles.tree import Tree

from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.named import criterion_named
from pacas.core.sealed.component import Component
from pacas.core.sealed.coverage import NeighbourSpread, apportion, price_tables
from pacas.core.sealed.possible import dearest_safe, least_left, values_left
from pacas.errors import InputError

Written = tuple[str, dict[str, str]]


class World(NamedTuple):
    """Linked attributes, the tuples they can have, and what is known of them before a sale."""

    trees: list[Tree]
    tuples: list[tuple[str, ...]]
    prior: list[int]
    weights: list[int]
    spread: str
    protected: list[int | None]

    @property
    def names(self) -> list[str]:
        return [f"A{number}" for number in range(len(self.trees))]

    @property
    def component(self) -> Component:
        hierarchies = {name: to_hierarchy(tree) for name, tree in zip(self.names, self.trees, strict=True)}
        return Component.of_tuples(hierarchies, self.tuples, self.prior)

    @property
    def levels(self) -> dict[str, int]:
        return {name: at for name, at in zip(self.names, self.protected, strict=True) if at is not None}

    def blocks(self, vector: tuple[int, ...]) -> list[dict[tuple[str | None, ...], int]]:
        return sealed.blocks(self.trees, self.tuples, self.prior, self.protected, vector)

    @property
    def table(self) -> np.ndarray:
        return self.priced(self.component)

    def priced(self, component: Component) -> np.ndarray:
        weights = dict(zip(self.names, self.weights, strict=True))
        return price_tables(component, [weights], NeighbourSpread(self.spread))[0]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rows = tree_rows(max_height=3) | numbered_rows(max_height=3)
    trees = [Tree(draw(rows)) for _ in range(draw(st.integers(1, 2)))]
    ground = [to_hierarchy(tree).ground_labels for tree in trees]
    every = [*product(*ground)]
    tuples = every if len(trees) == 1 else draw(st.lists(st.sampled_from(every), min_size=1, max_size=7, unique=True))
    prior = draw(st.lists(st.integers(0, 5), min_size=len(tuples), max_size=len(tuples)).filter(any))
    weights = draw(st.lists(st.integers(0, 50), min_size=len(trees), max_size=len(trees)))
    protected = [draw(st.none() | st.integers(0, tree.height)) for tree in trees]
    return World(trees, tuples, prior, weights, draw(st.sampled_from(["even", "domain"])), protected)


@many_examples(2000)
@given(worlds())
def test_prices_are_what_listing_all_pairs_gives(world: World) -> None:
    for vector in sealed.vectors(world.trees):
        literal = sealed.price(world.trees, world.tuples, world.prior, world.weights, world.spread, vector)
        assert world.table[vector] == literal


@many_examples(2000)
@given(worlds(), criteria())
def test_levels_are_safe_iff_every_answer_leaves_enough(world: World, written: Written) -> None:
    criterion = criterion_named(*written)
    least = least_left(world.component, world.levels, criterion)
    (overall,) = world.blocks(tuple(tree.height for tree in world.trees))
    for vector in sealed.vectors(world.trees):
        left = world.blocks(vector)
        safe = all(literal.holds(criterion.name, criterion.parameters, block, overall) for block in left)
        assert (least[vector] >= criterion.enough) == safe
        if isinstance(criterion, DistinctValues):
            assert least[vector] == min(map(len, left))


@many_examples(2000)
@given(worlds(), st.integers(1, 3), st.integers(0, 3))
def test_a_row_that_may_be_absent_is_one_with_a_value_beside_the_root(world: World, present: int, absent: int) -> None:
    """A registry: every tree has a level above its root, under which absent stands alone, in all attributes at once."""
    component = world.component.or_absent(present, absent)
    higher = [
        Tree([*([*row, "any"] for row in tree.rows), [*(f"absent {n}" for n in range(tree.height + 1)), "any"]])
        for tree in world.trees
    ]
    tuples = [*world.tuples, ("absent 0",) * len(higher)]
    prior = [*(weight * present for weight in world.prior), absent * sum(world.prior)]
    table = world.priced(component)
    least = least_left(component, world.levels, DistinctValues(1))
    for vector in sealed.vectors(higher):
        assert table[vector] == sealed.price(higher, tuples, prior, world.weights, world.spread, vector)
        told = any(level < tree.height for level, tree in zip(vector, higher, strict=True))
        at_most_the_roots = tuple(min(level, tree.height) for level, tree in zip(vector, world.trees, strict=True))
        assert least[vector] == (0 if absent and told else min(map(len, world.blocks(at_most_the_roots))))


@many_examples(2000)
@given(worlds(), st.data())
def test_the_laws_of_prices(world: World, data: st.DataObject) -> None:
    """Whole, 0 at the root, coarser never dearer, a bundle at most its parts; a price never rises with purchases."""
    table, vectors = world.table, sealed.vectors(world.trees)
    assert table.dtype == np.int64 and table.flat[-1] == 0 and table.min() >= 0
    one, other, bought = (data.draw(st.sampled_from(vectors)) for _ in range(3))
    both = tuple(map(min, one, other))
    assert max(table[one], table[other]) <= table[both] <= table[one] + table[other]
    more, all_three = tuple(map(min, one, bought)), tuple(map(min, both, bought))
    assert table[all_three] - table[both] <= table[more] - table[one]


@many_examples(2000)
@given(worlds(), st.data())
def test_what_tells_more_tuples_apart_costs_at_least_as_much(world: World, data: st.DataObject) -> None:
    """Dependencies included: where one answer determines another, whatever the levels are called."""
    one, other = (data.draw(st.sampled_from(sealed.vectors(world.trees))) for _ in range(2))
    told = {t: (sealed.answers(world.trees, t, one), sealed.answers(world.trees, t, other)) for t in world.tuples}
    if len({a for a, _ in told.values()}) == len(set(told.values())):  # one's answer determines other's
        assert world.table[other] <= world.table[one]


@many_examples(2000)
@given(worlds())
def test_the_finest_levels_cost_all_that_can_be_told_apart(world: World) -> None:
    linked = [any(a != b for a in column for b in column) for column in zip(*_possible(world), strict=True)]
    expected = sum(w for w, some in zip(world.weights, linked, strict=True) if some)
    assert world.table.flat[0] <= sum(world.weights)
    if all(world.prior):
        assert world.table.flat[0] == expected


def _possible(world: World) -> list[tuple[str, ...]]:
    return [t for t, weight in zip(world.tuples, world.prior, strict=True) if weight]


@many_examples(2000)
@given(worlds(), st.integers(1, 4))
def test_the_dearest_safe_levels_are_safe_and_nothing_safe_is_dearer(world: World, k: int) -> None:
    least, table = least_left(world.component, world.levels, DistinctValues(k)), world.table
    found = dearest_safe(lambda vectors: values_left([least], vectors) >= k, [table])
    safe = [vector for vector in sealed.vectors(world.trees) if least[vector] >= k]
    if found is None:
        assert not safe
    else:
        assert least[found[0]] >= k
        assert table[found[0]] == max(table[vector] for vector in safe)


@many_examples(2000)
@given(worlds(), criteria(), st.data())
def test_coarser_answers_leave_at_least_as_much(world: World, written: Written, data: st.DataObject) -> None:
    least = least_left(world.component, world.levels, criterion_named(*written))
    one, other = (data.draw(st.sampled_from(sealed.vectors(world.trees))) for _ in range(2))
    assert least[tuple(map(max, one, other))] >= max(least[one], least[other])


@pytest.mark.parametrize(("values", "t"), [("1234", "1/3"), ("abcd", "1/2")])
def test_numbers_are_as_far_apart_as_their_order_says(values: str, t: str) -> None:
    """The halves of four numbers are a third away from all of them, those of four names a half."""
    tree = Tree([[value, half, "*"] for value, half in zip(values, ["low", "low", "high", "high"], strict=True)])
    component = Component.of_attribute("A", to_hierarchy(tree))
    edge = Fraction(t)
    assert least_left(component, {"A": 0}, Closeness(edge)).tolist() == [0, 1, 1]
    assert least_left(component, {"A": 0}, Closeness(edge - Fraction(1, 10**9))).tolist() == [0, 0, 1]


@pytest.mark.parametrize(("total", "shares"), [(-1, [Fraction(1)]), (5, []), (5, [Fraction(0), Fraction(0)])])
def test_nothing_to_apportion_is_an_error(total: int, shares: list[Fraction]) -> None:
    with pytest.raises(InputError, match="nothing to apportion"):
        apportion(total, shares)


def test_a_prior_makes_nothing_impossible_and_something_must_be_possible() -> None:
    hierarchy = to_hierarchy(Tree([["a", "*"], ["b", "*"], ["c", "*"]]))
    assert Component.of_attribute("A", hierarchy, {"a": 7, "b": -2}).prior.tolist() == [7, 1, 1]
    with pytest.raises(InputError, match="A: a prior needs a value that is possible"):
        Component.of_tuples({"A": hierarchy}, [("a",), ("b",)], [0, 0])
