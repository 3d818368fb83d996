"""What two providers tell together, and what terms bring: the figures, on small made markets."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import numpy as np
import pytest
from loaded_script import script
from oracles.tree import Tree

import pacas
from pacas.cli.main import run
from pacas.core.rates.schedule import Schedule
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.experiments.datasets.load import load
from pacas.experiments.markets.composition import ShareRange, by_attribute, composed_trees, sold_pairs
from pacas.experiments.markets.surplus import KINDS, TwoSteps, bargain, drawn_account

NAMES = ("synthetic-clinical",)
read_lines = script("evaluation_page").read_lines


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


@pytest.mark.parametrize("rates", [TwoSteps(0.8, 5.0, 0.6), TwoSteps(0.5, 0.0, 0.5), TwoSteps(1.0, 20.0, 0.2)])
def test_rates_cost_what_a_schedule_says_and_buyers_take_what_leaves_them_most(rates: TwoSteps) -> None:
    steps = [[0, rates.first * 100], [rates.above, rates.second * 100]] if rates.above else [[0, rates.second * 100]]
    schedule = Schedule.of(steps)
    buyer, _ = drawn_account(np.random.default_rng(3), *KINDS[1])
    for listed in (0.5, 4.0, 7.25, 30.0):
        cost = float(rates.cost(np.array([listed]))[0])
        assert schedule.paid(round(listed * 10**9)) / 10**9 == pytest.approx(cost, abs=1e-8)
    paid, left = buyer.taken(rates)
    literal = [(w - float(rates.cost(np.array([x]))[0])) for x, w in zip(buyer.listed, buyer.worth, strict=True)]
    assert left == pytest.approx(max(literal)) and left >= 0 and paid >= 0


def test_terms_that_were_agreed_leave_both_better_off_by_what_was_known() -> None:
    rng, posted = np.random.default_rng(4), TwoSteps(0.6, 0.0, 0.6)
    for kind in KINDS:
        buyer, _ = drawn_account(rng, *kind)
        before, after = buyer.taken(posted), buyer.taken(bargain(buyer, posted))
        assert after == before or (after[0] > before[0] and after[1] > before[1])


@pytest.mark.slow
def test_the_commands_write_what_the_page_is_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "surplus", "--seeds", "1", "--output", str(tmp_path)]) == 0
    lines = read_lines(tmp_path / "surplus.csv")
    assert [one["way"] for one in lines] == ["best posted rate", "one schedule", "offers by account"]
    assert float(lines[2]["revenue_gain"]) > 0 and float(lines[2]["surplus_gain"]) > 0
    given = ["--rows", "300", "--people", "20", "--output", str(tmp_path)]
    assert run(["experiment", "composition", *given]) == 0
    assert "broken" in capsys.readouterr().out
    assert {one["house"] for one in read_lines(tmp_path / "pairs.csv")} == {"True", "False"}
    assert read_lines(tmp_path / "composition.csv")
