"""Cell neighbours: evenly over the levels, never the truth, never twice, and the same in every process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import trees
from oracles.tree import Tree

from pacas import example
from pacas.core.hierarchy import Hierarchy
from pacas.provider.pricing import CellPrices, uniform_weights
from pacas.provider.support_set import CellNeighbours, cell_neighbours

SEED = b"a secret of the provider's"


def neighbours(values: list[str], hierarchy: Hierarchy, per_cell: int = 10, seed: bytes = SEED) -> CellNeighbours:
    return cell_neighbours("A", hierarchy.encode(values), hierarchy, per_cell, seed)


def of_row(found: CellNeighbours, hierarchy: Hierarchy, row: int) -> list[tuple[str | None, int]]:
    here = slice(found.first[row], found.first[row + 1])
    return [(hierarchy.label(c), int(d)) for c, d in zip(found.new[here], found.divergence[here], strict=True)]


def test_a_small_tree_gives_all_it_has() -> None:
    found = neighbours(["ibuprofen"], example.med)
    assert sorted(of_row(found, example.med, 0)) == [
        ("addaprin", 1),
        ("dolex", 2),
        ("intropes", 3),
        ("naproxen", 1),
        ("tylenol", 2),
    ]


def test_neighbours_are_spread_evenly_over_the_levels_the_higher_ones_first() -> None:
    wide = Hierarchy.from_rows([(f"v{i}", f"g{i // 10}", f"h{i // 100}", "*") for i in range(1_000)])
    found = neighbours(["v0", "v777"], wide)
    for row in (0, 1):
        assert np.bincount([d for _, d in of_row(found, wide, row)]).tolist() == [0, 3, 3, 4]


@settings(max_examples=150)
@given(trees(), st.integers(1, 12), st.data())
def test_each_neighbour_differs_below_its_divergence_and_not_above(
    tree: Tree, per_cell: int, data: st.DataObject
) -> None:
    hierarchy = Hierarchy.from_rows(tree.rows)
    ground = hierarchy.ground_labels
    values = data.draw(st.lists(st.sampled_from(ground), min_size=1, max_size=6))
    found = neighbours(values, hierarchy, per_cell)
    for row, value in enumerate(values):
        mine = of_row(found, hierarchy, row)
        assert len({new for new, _ in mine}) == len(mine) == min(per_cell, len(ground) - 1)
        for new, divergence in mine:
            differs = [tree.generalize(value, level) != tree.generalize(new, level) for level in range(tree.height + 1)]
            assert differs == [level < divergence for level in range(tree.height + 1)]


def test_other_seeds_give_other_neighbours() -> None:
    wide = Hierarchy.flat([f"v{i}" for i in range(1_000)])
    values = ["v1"] * 50
    assert neighbours(values, wide).new.tolist() == neighbours(values, wide).new.tolist()
    assert neighbours(values, wide).new.tolist() != neighbours(values, wide, seed=b"another").new.tolist()
    assert len(set(neighbours(values, wide, per_cell=1).new.tolist())) > 25, "rows with one value differ in neighbours"


def test_another_process_derives_the_same() -> None:
    code = (
        "from pacas import example; from pacas.provider.support_set import cell_neighbours as c;"
        f"print(c('A', example.med.encode(['dolex', 'tylenol']), example.med, 3, {SEED!r}).new.tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(neighbours(["dolex", "tylenol"], example.med, 3).new.tolist())


# ---- what they weigh -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("total", "count"), [(10, 3), (10**9, 7), (5, 5), (0, 4)])
def test_uniform_weights_sum_to_the_total_and_differ_by_at_most_one(total: int, count: int) -> None:
    weights = uniform_weights(total, count)
    assert int(weights.sum()) == total
    assert int(weights.max() - weights.min()) <= 1


@settings(max_examples=100)
@given(trees(), st.data())
def test_a_price_is_the_weight_of_the_neighbours_that_the_answer_rules_out(tree: Tree, data: st.DataObject) -> None:
    """Alg. 1 for requests of single cells, with what was bought before left out."""
    hierarchy = Hierarchy.from_rows(tree.rows)
    values = data.draw(st.lists(st.sampled_from(hierarchy.ground_labels), min_size=1, max_size=5))
    found = neighbours(values, hierarchy, 4)
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(found), max_size=len(found))), dtype=np.int64)
    prices = CellPrices.of(found, weights, hierarchy.height)
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1))))
    level, bought = (data.draw(st.integers(0, hierarchy.height)) for _ in range(2))
    literal = 0
    for row in rows:
        for i in range(found.first[row], found.first[row + 1]):
            new = hierarchy.label(found.new[i])
            ruled_out = tree.generalize(values[row], level) != tree.generalize(new, level)
            known = tree.generalize(values[row], bought) != tree.generalize(new, bought)
            literal += int(weights[i]) if ruled_out and not known else 0
    assert prices.price(rows, level, np.full(len(rows), bought, dtype=np.int8)) == literal
