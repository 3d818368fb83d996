from __future__ import annotations

import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import chimerge
from pacas.core.builders.chimerge import chi_square
from pacas.errors import HierarchyError

VALUES = ["1", "2", "3", "4", "5", "6"]
TARGETS = ["a", "a", "b", "b", "a", "a"]


def kerber(table: np.ndarray) -> float:
    """χ² as in Kerber's paper, with a denominator of at least 0.5."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float((np.square(table - expected) / np.maximum(expected, 0.5)).sum())


def by_definition(table: dict[tuple[int, str], int], threshold: float, most: float) -> list[int]:
    """Merge the first of the most similar neighbours, looking at all pairs every time; the last value of each bin."""
    classes = sorted({target for _, target in table})
    ends = sorted({v for v, _ in table})
    rows = [np.array([table.get((v, c), 0) for c in classes]) for v in ends]
    while len(rows) > 1:
        scores = [kerber(np.array(pair)) for pair in pairwise(rows)]
        at = next(i for i, score in enumerate(scores) if score <= min(scores) + 1e-9)
        if scores[at] > threshold and len(rows) <= most:
            break
        rows[at : at + 2] = [rows[at] + rows[at + 1]]
        del ends[at]
    return ends[:-1]


def test_merges_neighbours_with_equal_classes():
    built = chimerge(VALUES, TARGETS, [20] * 6, significance=[0.9])
    assert built.at_level(1) == ["[1,2]", "[3,4]", "[5,6]"]
    assert built.numeric


def test_a_higher_significance_keeps_fewer_intervals():
    built = chimerge(["1", "1", "2", "2"], ["a", "b", "a", "b"], [30, 20, 20, 30], significance=[0.9, 0.99])
    assert (built.at_level(1), built.at_level(2)) == (["[1,1]", "[2,2]"], ["[1,2]"])


def test_max_intervals_alone_decides_how_many_are_left():
    built = chimerge(VALUES, TARGETS, [20] * 6, max_intervals=[5, 2])
    assert [len(built.at_level(level)) for level in (1, 2, 3)] == [5, 2, 1]


def test_one_number_stands_for_all_levels():
    built = chimerge(VALUES, TARGETS, [20] * 6, significance=[0.9], max_intervals=[5, 2])
    assert [len(built.at_level(level)) for level in (1, 2, 3)] == [3, 2, 1]


def test_unless_told_otherwise_has_at_most_16_then_8_then_4_intervals():
    values = [str(v) for v in range(40)]
    built = chimerge(values, ["ab"[v % 2] for v in range(40)], [50] * 40)
    assert [len(built.at_level(level)) for level in (1, 2, 3)] == [16, 8, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"significance": []}, "significance"),
        ({"significance": [1.0]}, "significance"),
        ({"significance": [0.99, 0.9]}, "significance must increase"),
        ({"max_intervals": [0]}, "max_intervals"),
        ({"max_intervals": []}, "max_intervals"),
        ({"max_intervals": [4, 8]}, "max_intervals must decrease"),
        ({"significance": [0.9, 0.99], "max_intervals": [8, 4, 2]}, "one number per level"),
    ],
)
def test_stopping_rules_that_make_no_levels_are_an_error(options, message):
    with pytest.raises(HierarchyError, match=message):
        chimerge(VALUES, TARGETS, [1] * 6, **options)


def test_values_that_are_not_numbers_are_counted_and_not_shown():
    with pytest.raises(HierarchyError, match=r"^1 of 2 values are not numbers") as caught:
        chimerge(["1", "secret"], ["a", "b"], [1, 1])
    assert "secret" not in str(caught.value)


profiles = st.dictionaries(st.integers(0, 3), st.integers(1, 20), min_size=1)


@given(a=profiles, b=profiles)
def test_the_statistic_is_kerbers(a, b):
    table = np.array([[row.get(target, 0) for target in range(4)] for row in (a, b)])
    assert chi_square(a, b) == pytest.approx(kerber(table), abs=1e-9)


@given(
    table=st.dictionaries(
        st.tuples(st.integers(0, 15), st.sampled_from("abc")), st.integers(1, 30), min_size=1, max_size=30
    ),
    most=st.integers(1, 6),
)
def test_merges_form_a_tree_and_are_those_of_the_definition(assert_tree, upper_bounds, table, most):
    values, targets = [str(v) for v, _ in table], [t for _, t in table]
    built = chimerge(values, targets, list(table.values()), max_intervals=[most + 4, most])
    assert_tree(built, values)
    assert upper_bounds(built, 1) == by_definition(table, -1, most + 4)
    assert upper_bounds(built, 2) == by_definition(table, -1, most)


@given(
    table=st.dictionaries(
        st.tuples(st.integers(0, 15), st.sampled_from("ab")), st.integers(1, 30), min_size=1, max_size=30
    )
)
def test_merges_stop_where_all_neighbours_differ(upper_bounds, table):
    values, targets = [str(v) for v, _ in table], [t for _, t in table]
    built = chimerge(values, targets, list(table.values()), significance=[0.9])
    assert upper_bounds(built, 1) == by_definition(table, 2.705543, np.inf)


@pytest.mark.parametrize(
    ("column", "bounds"), [(0, [5.4, 5.7, 6.2, 7.0]), (1, [2.4, 2.9, 3.3]), (2, [1.9, 4.7, 5.1]), (3, [0.6, 1.3, 1.7])]
)
def test_agrees_with_the_published_intervals_of_iris(upper_bounds, column, bounds):
    """Three classes at the 0.90 level, χ² = 4.61, as other programs with Kerber's denominator report them.

    Without that denominator, sepal length would have two more cuts.
    """
    datasets = pytest.importorskip("sklearn.datasets")
    iris = datasets.load_iris()
    values = [str(v) for v in iris.data[:, column]]
    built = chimerge(values, [str(t) for t in iris.target], [1] * 150, significance=[0.9])
    assert upper_bounds(built, 1) == bounds


def scorecard():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("scorecardbundle.feature_discretization.ChiMerge")


def their_bounds(module, values, targets, **options) -> list[float]:
    x = np.array([float(v) for v in values])
    y = np.array([int(t == ">50K") for t in targets])
    bounds = module.chi_merge_vector(x, y, initial_intervals=None, output_boundary=True, **options)
    return [float(bound) for bound in bounds[:-1]]


@pytest.mark.parametrize(
    ("column", "rule"), [("age", {"significance": [0.99]}), ("hours-per-week", {"max_intervals": [8]})]
)
def test_agrees_with_scorecardbundle_on_adult(adult, contingency, upper_bounds, monkeypatch, column, rule):
    """scorecardbundle adds 0.5 to every expected count, where Kerber takes 0.5 as the least denominator.

    With Kerber's statistic in its place, its merging gives our intervals. Every 20th row: it rescans all of them.
    """
    module = scorecard()
    monkeypatch.setattr(module, "chi2_test", kerber)
    values, targets = adult[column][::20], adult["salary-class"][::20]
    counted = contingency(values, targets)
    ours = upper_bounds(chimerge(counted.values, counted.targets, counted.counts, **rule), 1)
    theirs = {"confidence_level": 0.99} if "significance" in rule else {"confidence_level": 0, "max_intervals": 8}
    assert len(ours) >= 3
    assert their_bounds(module, values, targets, **theirs) == ours


def test_agrees_with_scorecardbundle_as_it_is_where_counts_are_large(adult, contingency, upper_bounds):
    """On education-num every value has many rows, so half a row more or less changes nothing."""
    values, targets = adult["education-num"], adult["salary-class"]
    assert min(Counter(values).values()) > 50
    counted = contingency(values, targets)
    ours = upper_bounds(chimerge(counted.values, counted.targets, counted.counts, max_intervals=[12]), 1)
    assert their_bounds(scorecard(), values, targets, confidence_level=0, max_intervals=12) == ours
