"""Anonymity from histograms is anonymity tuple by tuple; Theorem 1."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lanes import examples
from oracles import anonymity as literal
from oracles import criteria as definitions
from oracles.bridge import to_hierarchies, to_relation
from oracles.cleaning import tree_of
from oracles.strategies import criteria, relations
from oracles.tree import Tree, Value
from scipy.optimize import linprog

from pacas.core.anonymity import Anonymity, Policy, check_anonymity
from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.core.criteria.named import criterion_named
from pacas.core.criteria.recursive import RecursiveDiversity
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import GroupHistogram
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError

ENGINE = DuckEngine(threads=1)

Rows = list[dict[str, str | None]]
Trees = dict[str, Tree]


def group_histogram(rows: Rows, x: tuple[str, ...], levels: dict[str, int], trees: Trees) -> GroupHistogram:
    return ENGINE.group_histogram(ENGINE.open(to_relation(rows)), x, levels, to_hierarchies(trees))


def anonymity(rows: Rows, policy: Policy, trees: Trees) -> Anonymity:
    return check_anonymity(group_histogram(rows, policy.x, policy.y_levels, trees), policy)


@st.composite
def policies(draw: st.DrawFn) -> tuple[Rows, Trees, Policy]:
    rows, trees = draw(relations(max_rows=16))
    order = draw(st.permutations("ABCD"))
    split = draw(st.integers(1, 3))
    x, y = tuple(order[:split]), tuple(order[split : split + draw(st.integers(0, 2))])
    levels = {a: draw(st.integers(0, trees[a].height if a in trees else 1)) for a in y if draw(st.booleans())}
    return rows, trees, Policy(x, y, levels, draw(st.integers(1, 4)))


@examples(80)
@given(policies())
def test_anonymity_agrees_with_the_definitions(case: tuple[Rows, Trees, Policy]) -> None:
    rows, trees, policy = case
    found = anonymity(rows, policy, trees)
    if policy.y:
        expected = literal.xyl_anonymity(rows, policy.x, policy.y_levels, trees)
    else:
        expected = literal.k_anonymity(rows, policy.x, trees)
    assert found.k == expected
    assert found.holds == (expected is None or expected >= policy.k)
    assert found.failing_groups == literal.failing_groups(rows, policy.x, policy.y_levels, policy.k, trees)
    linked = literal.linked_tuples(rows, policy.x)
    assert found.unlinked_rows == len(rows) - len(linked)
    assert found.groups == literal.failing_groups(rows, policy.x, policy.y_levels, 10**9, trees)


@examples(80)
@given(policies(), criteria())
def test_every_criterion_agrees_with_its_definition(
    case: tuple[Rows, Trees, Policy], written: tuple[str, dict[str, str]]
) -> None:
    rows, trees, asked = case
    assume(asked.y)
    policy = Policy(asked.x, asked.y, asked.levels, criterion=criterion_named(*written))
    must, overall = policy.must_hold, Counter(literal.answers(rows, policy.y_levels, trees))
    groups = {}
    for t in literal.linked_tuples(rows, policy.x):
        group = literal.answers(literal.x_group(rows, t, policy.x, trees), policy.y_levels, trees)
        key = tuple(tree_of(a, trees).key(t[a]) for a in policy.x)
        groups[key] = definitions.holds(must.name, must.parameters, Counter(group), overall)
    found = anonymity(rows, policy, trees)
    assert (found.groups, found.failing_groups) == (len(groups), list(groups.values()).count(False))
    assert found.holds == all(groups.values())


@examples(40)
@given(policies())
def test_diversity_agrees_with_the_definitions(case: tuple[Rows, Trees, Policy]) -> None:
    rows, trees, policy = case
    assume(policy.y and literal.linked_tuples(rows, policy.x))
    histogram = group_histogram(rows, policy.x, policy.y_levels, trees)
    assert DistinctValues(1).strictest(histogram) == literal.xyl_anonymity(rows, policy.x, policy.y_levels, trees)
    expected = literal.entropy_diversity(rows, policy.x, policy.y_levels, trees)
    by_entropy, by_count = EntropyDiversity(1).strictest(histogram), DistinctValues(1).strictest(histogram)
    assert by_entropy == pytest.approx(expected, abs=1e-9)
    assert by_entropy is not None and by_count is not None and by_entropy <= by_count + 1e-9


@st.composite
def closeness_cases(draw: st.DrawFn) -> Rows:
    values: list[Value] = draw(
        st.sampled_from(
            [["a", "b", "c", None], ["1", "2", "10", "3.5", "-4"], ["1", "2", "x"], ["7"], ["1", "2", None]]
        )
    )
    row = st.fixed_dictionaries(
        {"A": st.sampled_from(["a", "b", "c", None]), "B": st.sampled_from("xy"), "S": st.sampled_from(values)}
    )
    return draw(st.lists(row, min_size=1, max_size=16))


@examples(50)
@given(closeness_cases(), st.sampled_from([("A",), ("A", "B")]))
def test_closeness_agrees_with_the_definition(rows: Rows, x: tuple[str, ...]) -> None:
    expected = literal.closeness(rows, x, "S", 0, {})
    found = Closeness(1).strictest(group_histogram(rows, x, {"S": 0}, {}))
    assert found == (None if expected is None else float(expected))


@pytest.mark.parametrize("seed", range(3))
def test_ordered_closeness_is_the_cost_of_the_best_transport(seed: int) -> None:
    """The cumulative formula against the earth mover's problem itself, solved as a linear program."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(100, 5, replace=False))
    rows: Rows = [{"A": str(rng.integers(3)), "S": str(rng.choice(values))} for _ in range(25)]
    present = sorted({int(str(r["S"])) for r in rows})
    m = len(present)
    whole = np.array([sum(r["S"] == str(v) for r in rows) for v in present]) / len(rows)
    cost = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / (m - 1)
    worst = 0.0
    for a in {r["A"] for r in rows}:
        group = [r for r in rows if r["A"] == a]
        share = np.array([sum(r["S"] == str(v) for r in group) for v in present]) / len(group)
        leaving = [np.kron(np.eye(m)[i], np.ones(m)) for i in range(m)]
        arriving = [np.kron(np.ones(m), np.eye(m)[i]) for i in range(m)]
        best = linprog(cost.ravel(), A_eq=np.array(leaving + arriving), b_eq=np.concatenate([share, whole]))
        worst = max(worst, best.fun)
    assert Closeness(1).strictest(group_histogram(rows, ("A",), {"S": 0}, {})) == pytest.approx(worst, abs=1e-9)


def test_closeness_compares_groups_with_the_whole_relation() -> None:
    """A tuple with a null in X is in no group, but it is in the relation that groups are compared with."""
    rows: Rows = [{"A": "a", "S": "x"}, {"A": "a", "S": "x"}, {"A": None, "S": "y"}, {"A": None, "S": "y"}]
    assert literal.closeness(rows, ("A",), "S", 0, {}) == Fraction(1, 2)
    assert Closeness(1).strictest(group_histogram(rows, ("A",), {"S": 0}, {})) == 0.5


# ---- Theorem 1 -------------------------------------------------------------------------------------------------------


@examples(50)
@given(relations(attributes="XYZ", max_rows=16), st.data())
def test_theorem_1_anonymous_at_higher_levels_implies_anonymous_at_lower_ones(
    case: tuple[Rows, Trees], data: st.DataObject
) -> None:
    """Both items: L1 ≤ L2, and L1 = 0, which is (X,Y)-anonymity."""
    rows, trees = case
    heights = {a: trees[a].height if a in trees else 1 for a in "YZ"}
    high = {a: data.draw(st.integers(0, h), label=f"L2({a})") for a, h in heights.items()}
    low = {a: data.draw(st.integers(0, level), label=f"L1({a})") for a, level in high.items()}
    at = {
        name: anonymity(rows, Policy(("X",), ("Y", "Z"), levels), trees).k
        for name, levels in {"high": high, "low": low, "ground": {}}.items()
    }
    values = [inf if (k := at[name]) is None else k for name in ("high", "low", "ground")]
    assert values == sorted(values)


def test_theorem_1_does_not_hold_the_other_way() -> None:
    """Anonymous with k = 2 at level 0 but not at level 1: both values of the one group are NSAIDs."""
    med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    table = ENGINE.open(Relation.of({"GEN": ["male", "male"], "MED": ["ibuprofen", "naproxen"]}))
    k = {}
    for level in (0, 1):
        policy = Policy(("GEN",), ("MED",), {"MED": level}, k=2)
        k[level] = check_anonymity(ENGINE.group_histogram(table, policy.x, policy.y_levels, {"MED": med}), policy)
    assert (k[0].holds, k[0].k) == (True, 2)
    assert (k[1].holds, k[1].k) == (False, 1)


# ---- edges --------------------------------------------------------------------------------------------------------


def test_without_an_x_group_any_policy_holds() -> None:
    rows: Rows = [{"A": None, "S": "x"}]
    found = anonymity(rows, Policy(("A",), ("S",), k=5), {})
    assert (found.k, found.holds, found.groups, found.unlinked_rows) == (None, True, 0, 1)
    histogram = group_histogram(rows, ("A",), {"S": 0}, {})
    assert Closeness(1).strictest(histogram) is None
    assert EntropyDiversity(1).strictest(histogram) is None
    assert DistinctValues(1).strictest(histogram) is None


def test_numbers_in_x_are_one_group_however_they_are_written() -> None:
    tree = Tree([["51", "[51,60]", "*"], ["52", "[51,60]", "*"]], numeric=True)
    rows: Rows = [{"A": a, "S": s} for a, s in [("51", "x"), ("51.0", "y"), ("051", "z"), ("52", "x")]]
    histogram = group_histogram(rows, ("A",), {"S": 0}, {"A": tree})
    assert histogram.groups == 2
    assert sorted(np.bincount(histogram.group).tolist()) == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": ()}, "at least one attribute in X"),
        ({"x": ("A",), "k": 0}, "k must be at least 1, not 0"),
        ({"x": ("A", "B"), "y": ("B",)}, "'B' stands both in X and in Y"),
        ({"x": ("A",), "y": ("B",), "levels": {"C": 1}}, "a level is given for 'C', which is not in Y"),
        ({"x": ("A",), "criterion": Closeness(0)}, "closeness t = 0 needs an attribute in Y"),
        (
            {"x": ("A",), "y": ("B",), "k": 5, "criterion": EntropyDiversity(2)},
            "k = 5 and entropy l = 2 are both given",
        ),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Policy(**arguments)  # type: ignore[arg-type]


def test_k_follows_from_another_criterion() -> None:
    asked = [DistinctValues(3), EntropyDiversity("2.1"), RecursiveDiversity("0.5", 2), Closeness("0.2")]
    made = [Policy(("A",), ("B",), criterion=criterion) for criterion in asked]
    assert [policy.k for policy in made] == [3, 3, 4, 1]
    assert made[0] == Policy(("A",), ("B",), k=3)
    assert [replace(policy, keep=2).must_hold for policy in made] == asked
    assert replace(made[0], k=5).must_hold == DistinctValues(5)
