"""Cell neighbours: so many for each cell, evenly over the levels, never the truth, and the same in every process."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.strategies import trees
from oracles.tree import Tree

from pacas import example
from pacas.core.hierarchy import Hierarchy
from pacas.provider.on_engine.covering import least_shown
from pacas.provider.pricing.prices import CellPrices
from pacas.provider.support.cell_neighbours import (
    BLOCK,
    CellNeighbours,
    PerCell,
    cell_neighbours,
    draws,
    draws_of,
    per_cell_of_size,
)

SEED = b"a secret of the provider's"


def neighbours(values: list[str], hierarchy: Hierarchy, per_cell: PerCell = 10, seed: bytes = SEED) -> CellNeighbours:
    return cell_neighbours("A", hierarchy.encode(values), hierarchy, per_cell, seed)


def of_row(found: CellNeighbours, hierarchy: Hierarchy, row: int) -> list[tuple[str | None, int]]:
    here = slice(found.first[row], found.first[row + 1])
    return [(hierarchy.label(c), int(d)) for c, d in zip(found.new[here], found.divergence[here], strict=True)]


def test_a_small_tree_gives_all_it_has_and_then_again() -> None:
    found = of_row(neighbours(["ibuprofen"], example.med), example.med, 0)
    assert [d for _, d in found] == [1] * 3 + [2] * 3 + [3] * 4
    assert {v for v, d in found if d == 1} == {"addaprin", "naproxen"}
    assert {v for v, d in found if d == 2} == {"dolex", "tylenol"}
    assert {v for v, d in found if d == 3} == {"intropes"}


def test_neighbours_are_spread_evenly_over_the_levels_the_higher_ones_first() -> None:
    wide = Hierarchy.from_rows([(f"v{i}", f"g{i // 10}", f"h{i // 100}", "*") for i in range(1_000)])
    found = neighbours(["v0", "v777"], wide)
    for row in (0, 1):
        assert np.bincount([d for _, d in of_row(found, wide, row)]).tolist() == [0, 3, 3, 4]


def diverging(tree: Tree, value: str) -> Counter[int]:
    """How many other ground values differ from a value below each number of levels: counted literally."""
    found: Counter[int] = Counter()
    for other in tree.base(tree.root) - {value}:
        found[
            sum(tree.generalize(value, level) != tree.generalize(other, level) for level in range(tree.height + 1))
        ] += 1
    return found


@examples(150)
@given(trees(), st.data())
def test_each_cell_gets_its_number_of_neighbours_evenly_and_each_differs_where_it_says(
    tree: Tree, data: st.DataObject
) -> None:
    hierarchy = Hierarchy.from_rows(tree.rows)
    values = data.draw(st.lists(st.sampled_from(hierarchy.ground_labels), min_size=1, max_size=6))
    wanted = data.draw(st.lists(st.integers(0, 12), min_size=len(values), max_size=len(values)))
    found = neighbours(values, hierarchy, np.array(wanted, dtype=np.int32))
    for row, value in enumerate(values):
        mine, candidates = of_row(found, hierarchy, row), diverging(tree, value)
        assert len(mine) == (wanted[row] if candidates else 0)
        for new, divergence in mine:
            differs = [tree.generalize(value, level) != tree.generalize(new, level) for level in range(tree.height + 1)]
            assert differs == [level < divergence for level in range(tree.height + 1)]
        counts = [[d for _, d in mine].count(level) for level in sorted(candidates)]
        assert counts == sorted(counts) and (not counts or counts[-1] - counts[0] <= 1), "even, the higher levels first"
        for level, count in zip(sorted(candidates), counts, strict=True):
            times = Counter(new for new, d in mine if d == level)
            assert len(times) == min(count, candidates[level]), "all candidates before one comes again"
            assert not times or max(times.values()) - min(times.values()) <= 1


@given(trees(), st.integers(1, 12))
def test_a_fresh_price_is_the_same_for_all_values_with_candidates_at_the_same_levels(tree: Tree, per_cell: int) -> None:
    hierarchy = Hierarchy.from_rows(tree.rows)
    values = hierarchy.ground_labels
    found = neighbours(values, hierarchy, per_cell)
    by_levels: dict[frozenset[int], set[tuple[int, ...]]] = {}
    for row, value in enumerate(values):
        counts = np.bincount(found.divergence[found.first[row] : found.first[row + 1]], minlength=tree.height + 1)
        by_levels.setdefault(frozenset(diverging(tree, value)), set()).add(tuple(counts.tolist()))
    assert all(len(counts) == 1 for counts in by_levels.values())


def test_a_tree_with_one_ground_value_has_no_neighbours() -> None:
    assert len(neighbours(["a", "a"], Hierarchy.flat(["a"]))) == 0
    assert len(neighbours([], example.med)) == 0


# ---- so many in all --------------------------------------------------------------------------------------------------


@given(st.integers(0, 200), st.integers(0, 12), st.sampled_from(["A", "AB", "ABC"]))
def test_a_size_is_spread_over_all_cells_and_met_exactly(size: int, rows: int, attributes: str) -> None:
    counts = per_cell_of_size(size, rows, list(attributes), SEED)
    assert list(counts) == list(attributes)
    every = np.concatenate(list(counts.values()))
    assert len(every) == rows * len(attributes)
    assert int(every.sum()) == (size if rows else 0)
    assert not rows or int(every.max() - every.min()) <= 1


def test_who_gets_one_more_is_up_to_the_seed_and_not_to_the_order_of_the_attributes() -> None:
    one, other = per_cell_of_size(1_000, 300, ["A", "B"], SEED), per_cell_of_size(1_000, 300, ["B", "A"], SEED)
    assert all(one[a].tolist() == other[a].tolist() for a in "AB")
    assert one["A"].tolist() != per_cell_of_size(1_000, 300, ["A", "B"], b"another")["A"].tolist()
    assert 150 < int(one["A"].sum() - 300) < 250, "neither attribute is favoured"


# ---- what they follow from -------------------------------------------------------------------------------------------


def test_other_seeds_give_other_neighbours() -> None:
    wide = Hierarchy.flat([f"v{i}" for i in range(1_000)])
    values = ["v1"] * 50
    assert neighbours(values, wide).new.tolist() == neighbours(values, wide).new.tolist()
    assert neighbours(values, wide).new.tolist() != neighbours(values, wide, seed=b"another").new.tolist()
    assert len(set(neighbours(values, wide, per_cell=1).new.tolist())) > 25, "rows with one value differ in neighbours"


def test_another_process_derives_the_same() -> None:
    code = (
        "from pacas import example; from pacas.provider.support.cell_neighbours import cell_neighbours as c;"
        f"print(c('A', example.med.encode(['dolex', 'tylenol']), example.med, 3, {SEED!r}).new.tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(neighbours(["dolex", "tylenol"], example.med, 3).new.tolist())


@examples(25)
@given(st.integers(0, 3 * BLOCK), st.integers(0, 2 * BLOCK))
def test_the_draws_of_any_rows_are_those_of_the_whole(start: int, count: int) -> None:
    assert draws(SEED, ("swap", "A", 0), start, count).tolist() == WHOLE[start : start + count].tolist()


@examples(25)
@given(st.sets(st.integers(0, 5 * BLOCK - 1), max_size=40))
def test_so_are_those_of_rows_here_and_there(rows: set[int]) -> None:
    numbers = np.array(sorted(rows), dtype=np.int64)
    assert draws_of(SEED, ("swap", "A", 0), numbers).tolist() == WHOLE[numbers].tolist()


WHOLE = draws(SEED, ("swap", "A", 0), 0, 5 * BLOCK)


def test_draws_differ_by_seed_attribute_purpose_and_number() -> None:
    keys: list[tuple[bytes, tuple[str | int, ...]]] = [
        (SEED, ("swap", "A", 0)),
        (b"b", ("swap", "A", 0)),
        (SEED, ("swap", "B", 0)),
        (SEED, ("swap", "A", 1)),
    ]
    keys += [(SEED, ("insert", "A", 0)), (SEED, ("swap", "A0")), (SEED, ("swapA", 0)), (SEED + b"swap", ("A", 0))]
    found = [draws(seed, purpose, 0, 2 * BLOCK) for seed, purpose in keys]
    assert len(np.unique(np.concatenate(found))) == len(keys) * 2 * BLOCK
    assert abs(float(found[0].mean()) / 2**64 - 0.5) < 0.02


def test_a_process_that_has_some_of_the_rows_derives_their_neighbours_alone() -> None:
    wide = Hierarchy.from_rows([(f"v{i}", f"g{i // 3}", "*") for i in range(40)])
    column = (np.arange(20 * BLOCK) * 7 % 40).astype(np.int32)
    counts = (np.arange(len(column)) % 4).astype(np.int32)
    whole = cell_neighbours("A", column, wide, counts, SEED)
    for start, end in ((0, 10), (BLOCK, 2 * BLOCK), (BLOCK - 3, 2 * BLOCK + 5), (18 * BLOCK, 20 * BLOCK)):
        part = cell_neighbours("A", column[start:end], wide, counts[start:end], SEED, rows=np.arange(start, end))
        same = slice(whole.first[start], whole.first[end])
        assert part.new.tolist() == whole.new[same].tolist()
        assert part.divergence.tolist() == whole.divergence[same].tolist()
        assert (part.first + whole.first[start]).tolist() == whole.first[start : end + 1].tolist()
    here_and_there = np.array([3, BLOCK - 1, BLOCK, 7 * BLOCK + 5, 20 * BLOCK - 1])
    part = cell_neighbours("A", column[here_and_there], wide, counts[here_and_there], SEED, rows=here_and_there)
    for place, row in enumerate(here_and_there.tolist()):
        assert of_row(part, wide, place) == of_row(whole, wide, row)


@examples(60)
@given(trees(), st.integers(1, 6), st.data())
def test_what_a_cell_is_sure_to_show_is_what_the_least_lucky_one_shows(
    tree: Tree, per_cell: int, data: st.DataObject
) -> None:
    hierarchy = Hierarchy.from_rows(tree.rows)
    level = data.draw(st.integers(0, hierarchy.height))
    values = hierarchy.encode(hierarchy.ground_labels)
    column = np.repeat(values, 200)  # so many that every walk there is begins somewhere
    found = cell_neighbours("A", column, hierarchy, per_cell, SEED)
    at_level = hierarchy.ancestors[level]
    shown = [
        len({int(at_level[new]) for new in found.new[a:b]} - {int(at_level[old])})
        for old, a, b in zip(column, found.first[:-1], found.first[1:], strict=True)
    ]
    of_a_cell = per_cell if len(values) > 1 else 0
    assert least_shown(hierarchy, values.astype(np.int64), of_a_cell, level) == min(shown)


def test_millions_take_five_bytes_each() -> None:
    found = neighbours(["dolex"], example.med)
    assert (found.new.dtype, found.divergence.dtype) == (np.dtype(np.int32), np.dtype(np.int8))


# ---- what they weigh -------------------------------------------------------------------------------------------------


@examples(100)
@given(trees(), st.data())
def test_a_cell_costs_the_weight_of_the_neighbours_that_its_answer_rules_out(tree: Tree, data: st.DataObject) -> None:
    """Alg. 1 for single cells, at every level."""
    hierarchy = Hierarchy.from_rows(tree.rows)
    values = data.draw(st.lists(st.sampled_from(hierarchy.ground_labels), min_size=1, max_size=5))
    found = neighbours(values, hierarchy, 4)
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(found), max_size=len(found)))
    literal = [[0] * (tree.height + 1) for _ in values]
    for row, new, weight in zip(found.rows.tolist(), found.new, weights, strict=True):
        for level in range(tree.height + 1):
            if tree.generalize(values[row], level) != tree.generalize(hierarchy.label(new), level):
                literal[row][level] += weight
    prices = CellPrices.of(found, np.array(weights, dtype=np.int64), hierarchy.height)
    assert prices.weight.tolist() == literal
