"""The generalization relation: the package's numbered trees against the literal ones, and the laws of a tree."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from oracles.bridge import to_hierarchy
from oracles.strategies import UNKNOWN, tree_rows, trees, uniform_rows
from oracles.tree import Tree

from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError

FOREIGN = [*UNKNOWN, None]


def both(tree: Tree) -> tuple[Hierarchy, list[str | None]]:
    """The package's hierarchy with unknown values and the null admitted, and all its values."""
    hierarchy = to_hierarchy(tree).admit(FOREIGN)
    return hierarchy, [*sorted(tree.known), *FOREIGN]


@given(trees())
def test_the_order_of_values_is_the_literal_one(tree: Tree) -> None:
    hierarchy, values = both(tree)
    for a, b in product(values, repeat=2):
        x, y = hierarchy.code(a), hierarchy.code(b)
        assert bool(hierarchy.precedes(x, y)) == tree.precedes(a, b), (a, b)
        assert bool(hierarchy.comparable(x, y)) == tree.comparable(a, b), (a, b)
        assert hierarchy.label(hierarchy.lca(x, y).item()) == tree.lca(a, b), (a, b)


@given(trees())
def test_levels_ground_values_and_bases_are_the_literal_ones(tree: Tree) -> None:
    hierarchy, values = both(tree)
    assert hierarchy.height == tree.height
    assert set(hierarchy.ground_labels) == {v for v in values if v is not None and tree.is_ground(v)}
    assert set(hierarchy.general_labels) == {v for v in tree.known if not tree.is_ground(v)}
    bare = to_hierarchy(tree)
    for v in tree.known:
        assert bare.level[bare.code(v)] == tree.level(v)
        below = {bare.label(c) for c in range(len(bare)) if bare.is_ground[c] and bare.precedes(c, bare.code(v))}
        assert below == tree.base(v)


@given(trees())
def test_generalizing_is_the_literal_one(tree: Tree) -> None:
    hierarchy, values = both(tree)
    for v, level in product(values, range(tree.height + 1)):
        assert hierarchy.generalize_value(v, level) == tree.generalize(v, level), (v, level)
    for level in range(tree.height + 1):
        codes = hierarchy.generalize(hierarchy.encode(values), level)
        assert [hierarchy.label(c) for c in codes] == [tree.generalize(v, level) for v in values]
        ground = [v for v in values if tree.is_ground(v)]
        known_ground = {tree.generalize(v, level) for v in ground if v in tree.known}
        assert set(to_hierarchy(tree).at_level(level)) == known_ground


@given(trees())
def test_the_order_is_a_partial_order_with_the_root_on_top(tree: Tree) -> None:
    hierarchy, values = both(tree)
    codes = [hierarchy.code(v) for v in values]
    at_most = {(a, b) for a, b in product(codes, repeat=2) if hierarchy.precedes(a, b)}
    assert all((a, a) in at_most for a in codes)
    assert all(a == b for a, b in at_most if (b, a) in at_most)
    assert all((a, c) in at_most for a, b in at_most for c in codes if (b, c) in at_most)
    assert all((a, hierarchy.root) in at_most for a in codes)


@given(trees())
def test_generalizing_goes_up_and_keeps_the_order(tree: Tree) -> None:
    """v ⪯ v at l; a ⪯ b implies that a at l and b at l stay comparable, a's below b's."""
    hierarchy, values = both(tree)
    for level in range(hierarchy.height + 1):
        for a, b in product(values, repeat=2):
            x, y = hierarchy.code(a), hierarchy.code(b)
            up, other = hierarchy.ancestors[level, x], hierarchy.ancestors[level, y]
            assert hierarchy.precedes(x, up)
            if hierarchy.precedes(x, y):
                assert hierarchy.precedes(up, other)


@given(uniform_rows())
def test_generalizing_twice_is_generalizing_once_to_the_higher_level(rows: list[list[str]]) -> None:
    hierarchy, values = both(Tree(rows))
    for v, a, b in product(values, range(hierarchy.height + 1), range(hierarchy.height + 1)):
        assert hierarchy.generalize_value(hierarchy.generalize_value(v, a), b) == hierarchy.generalize_value(
            v, max(a, b)
        )


@given(tree_rows())
def test_generalizing_twice_also_composes_where_labels_stand_on_several_levels(rows: list[list[str]]) -> None:
    hierarchy, values = both(Tree(rows))
    for v, a, b in product(values, range(hierarchy.height + 1), range(hierarchy.height + 1)):
        assert hierarchy.generalize_value(hierarchy.generalize_value(v, a), b) == hierarchy.generalize_value(
            v, max(a, b)
        )


@given(trees())
def test_rows_are_read_back_as_they_were(tree: Tree) -> None:
    hierarchy = to_hierarchy(tree)
    again = Hierarchy.from_rows(hierarchy.rows(), numeric=tree.numeric) if hierarchy.ground_labels else hierarchy
    assert list(again.rows()) == list(hierarchy.rows())
    assert [list(row) for row in hierarchy.rows()] == [row for row in tree.rows if tree.is_ground(row[0])]


@pytest.mark.parametrize(
    "rows",
    [
        [("x", "p", "p", "g", "*"), ("y", "p", "g", "g", "*")],
        [("a", "a", "g", "*"), ("a", "g", "g", "*")],
    ],
    ids=["a general value", "a ground value"],
)
def test_rows_that_disagree_on_a_value_s_ancestor_at_a_level_are_refused(rows: list[tuple[str, ...]]) -> None:
    """Every value has exactly one ancestor per level.

    In the first case p is itself at level 2 according to x and g according to y. Were both believed, x and y would
    be one value at level 1 and two at level 2, and Theorem 1 would fail.
    """
    with pytest.raises(HierarchyError, match=r"level [12]"):
        Hierarchy.from_rows(rows)
