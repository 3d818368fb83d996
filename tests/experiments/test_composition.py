"""What two providers tell together: the figures, on a small made market and, of each person, by the literal trees."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from oracles.tree import Tree

import pacas
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.experiments.datasets.load import load
from pacas.experiments.markets.composition import ShareRange, by_attribute, composed_trees, sold_pairs

NAMES = ("synthetic-clinical",)


def test_trees_that_cross_leave_fewer_than_k() -> None:
    found = list(composed_trees(NAMES, None, 400))
    assert found and all(0 <= one.pinned <= one.fewer <= 1 for one in found)
    assert any(one.fewer > 0.3 for one in found if "clustered" in one.second)


def test_each_column_makes_a_second_tree_and_the_lines_come_to_a_median_and_a_range() -> None:
    found = list(composed_trees(NAMES, None, 400))
    told = list(by_attribute(found))
    assert sum(one.trees for one in told) == len(found) and len({one[:3] for one in told}) == len(told)
    for one in told:
        shares = sorted(line.fewer for line in found if line[:3] == one[:3])
        assert one.fewer == (median(shares), shares[0], shares[-1])
        assert len({line.by for line in found if line[:3] == one[:3]}) == one.trees
    assert str(ShareRange(0.25, 0.25, 0.25)) == "25.0%" and str(ShareRange(0.25, 0.1, 0.5)) == "25.0% (10.0 to 50.0%)"


def test_occupations_hours_and_ages_of_the_real_adult_are_composed_by_people(shared_data: Path) -> None:
    """Of each person, literally: the smallest ancestors with k values in both trees, and what they have in common."""
    found = [one for one in composed_trees(("adult",), shared_data, 400) if one.attribute != "education"]
    assert {one.attribute for one in found} == {"occupation", "age", "hours-per-week"}
    table = load("adult", shared_data, rows=400).truth.table
    arx = read_hierarchy(shared_data / "adult" / "hierarchies" / "adult_full_hierarchy_occupation.csv")
    line = next(one for one in found if one.by == "education")
    trees = [
        Tree(list(tree.rows())) for tree in (arx, pacas.build_hierarchy(table, "occupation", "cluster", by="education"))
    ]
    people, left = table["occupation"].to_pylist(), []
    for value in people:
        told = [next(b for n in tree.ancestors(value) if len(b := tree.base(n)) >= 3) for tree in trees]
        left.append(len(set(told[0]) & set(told[1]) & set(people)))
    assert line.fewer == sum(n < 3 for n in left) / 400 and line.pinned == left.count(1) / 400
    wide, narrow = (next(one for one in found if one.second.startswith(f"intervals of {w} ")) for w in (10, 5))
    assert wide.fewer == 0 < 0.2 < narrow.fewer


def test_two_that_sell_one_of_two_attributes_break_everybody_and_nobody_with_a_house() -> None:
    without, with_house = sold_pairs(NAMES, None, 40)
    assert (without.house, without.broken, without.sold) == (False, without.people, 2 * without.people)
    assert (with_house.house, with_house.broken, with_house.sold) == (True, 0, with_house.people)
