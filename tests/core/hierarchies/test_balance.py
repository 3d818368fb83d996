"""Balanced hierarchies: every value above a level hides k of it, and what is below stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import uniform_rows

from pacas.core.hierarchies.balance import balance
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError


@given(uniform_rows(), st.integers(0, 3), st.integers(1, 4), st.booleans())
def test_every_value_above_the_level_hides_k_of_it(rows: list[list[str]], level: int, k: int, in_order: bool) -> None:
    tree = Hierarchy.from_rows(rows)
    if level >= tree.height or len(tree.at_level(level)) < k:
        return
    balanced = balance(tree, level, k, in_order=in_order)
    assert balanced.height == tree.height
    assert sorted(balanced.ground_labels) == sorted(tree.ground_labels)
    for value in tree.ground_labels:
        for at in range(level + 1):
            assert balanced.generalize_value(value, at) == tree.generalize_value(value, at)
    for at in range(level + 1, balanced.height + 1):
        below: dict[str | None, set[str | None]] = {}
        for value in balanced.ground_labels:
            hidden = below.setdefault(balanced.generalize_value(value, at), set())
            hidden.add(balanced.generalize_value(value, level))
        assert min(map(len, below.values())) >= k


@given(uniform_rows(), st.integers(0, 3))
def test_a_hierarchy_that_hides_enough_stays_as_it_is(rows: list[list[str]], level: int) -> None:
    tree = Hierarchy.from_rows(rows)
    if level < tree.height:
        assert sorted(balance(tree, level, 1).rows()) == sorted(tree.rows())


def test_too_few_values_are_an_error() -> None:
    tree = Hierarchy.from_rows([("a", "f", "*"), ("b", "f", "*")])
    with pytest.raises(HierarchyError, match="level 1 has 1 values, fewer than k = 2"):
        balance(tree, 1, 2)


def test_many_families_have_a_short_name() -> None:
    tree = Hierarchy.from_rows([(f"v{i}", f"f{i}", "*") for i in range(9)])
    assert {row[1] for row in balance(tree, 0, 5).rows()} == {"f0|…|f8 (9)"}


def test_in_order_neighbours_join() -> None:
    tree = Hierarchy.from_rows([(f"v{i}", f"f{i // 2}", "*") for i in range(1, 8)])  # f0 has one, f1 to f3 have two
    assert [row[1] for row in balance(tree, 0, 2, in_order=True).rows()] == ["f0|f1"] * 3 + ["f2"] * 2 + ["f3"] * 2
