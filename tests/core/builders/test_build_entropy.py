from __future__ import annotations

import warnings
from collections import Counter
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import entropy
from pacas.errors import HierarchyError

Rows = list[tuple[int, str]]


def bits(rows: Rows) -> float:
    counts = Counter(target for _, target in rows).values()
    return -sum(n / len(rows) * log2(n / len(rows)) for n in counts)


def cuts_by_definition(rows: Rows, depth: int = 1) -> list[tuple[int, int]]:
    """Fayyad & Irani's recursion, word for word: (last value below the cut, depth)."""
    values = sorted({v for v, _ in rows})
    splits = [([r for r in rows if r[0] <= v], [r for r in rows if r[0] > v], v) for v in values[:-1]]
    if not splits:
        return []
    n = len(rows)
    gains = [bits(rows) - len(a) / n * bits(a) - len(b) / n * bits(b) for a, b, _ in splits]
    best = next(i for i, gain in enumerate(gains) if gain >= max(gains) - 1e-9)
    left, right, value = splits[best]
    k, k1, k2 = (len({target for _, target in part}) for part in (rows, left, right))
    delta = log2(3**k - 2) - (k * bits(rows) - k1 * bits(left) - k2 * bits(right))
    if gains[best] <= log2(n - 1) / n + delta / n:
        return []
    return [(value, depth), *cuts_by_definition(left, depth + 1), *cuts_by_definition(right, depth + 1)]


def test_cuts_where_the_classes_change():
    built = entropy(["1", "2", "3", "4"], ["no", "no", "yes", "yes"], [10, 10, 10, 10])
    assert built.at_level(1) == ["[1,2]", "[3,4]"]
    assert built.height == 2
    assert built.numeric


def test_a_cut_that_does_not_pay_for_itself_is_not_made():
    assert entropy(["1", "1", "2", "2"], ["no", "yes", "no", "yes"], [600, 400, 400, 600]).height == 2
    assert entropy(["1", "1", "2", "2"], ["no", "yes", "no", "yes"], [60, 40, 40, 60]).height == 1
    assert entropy(["1", "2", "1", "2"], ["no", "no", "yes", "yes"], [50, 50, 50, 50]).height == 1
    assert entropy(["1", "2"], ["no", "no"], [50, 50]).height == 1


def test_the_price_of_a_cut_names_the_classes_that_may_be_on_either_side():
    """log2(3² - 2) bits for two classes: with log2(3²) this cut would just not pay."""
    assert entropy(["1", "1", "2", "2"], ["no", "yes", "no", "yes"], [26, 10, 10, 26]).height == 2


STEPS = [str(v) for v in range(8)]
EIGHTS = ["a", "b", "c", "d", "e", "f", "g", "h"]


def test_each_level_drops_the_deepest_cuts():
    built = entropy(STEPS, EIGHTS, [100] * 8)
    assert [len(built.at_level(level)) for level in range(1, 4)] == [8, 4, 2]
    assert built.at_level(2) == ["[0,1]", "[2,3]", "[4,5]", "[6,7]"]


def test_max_levels_keeps_the_finest_and_spreads_the_rest():
    assert [len(entropy(STEPS, EIGHTS, [100] * 8, max_levels=2).at_level(level)) for level in (1, 2)] == [8, 2]
    assert [len(entropy(STEPS, EIGHTS, [100] * 8, max_levels=1).at_level(level)) for level in (1, 2)] == [8, 1]
    assert entropy(STEPS, EIGHTS, [100] * 8, max_levels=9).height == 4
    with pytest.raises(HierarchyError, match="max_levels"):
        entropy(STEPS, EIGHTS, [100] * 8, max_levels=0)


def test_values_that_are_not_numbers_are_counted_and_not_shown():
    with pytest.raises(HierarchyError, match=r"^1 of 2 values are not numbers") as caught:
        entropy(["1", "secret"], ["a", "b"], [1, 1])
    assert "secret" not in str(caught.value)


@given(
    table=st.dictionaries(
        st.tuples(st.integers(0, 12), st.sampled_from("abc")), st.integers(1, 30), min_size=1, max_size=25
    )
)
def test_cuts_form_a_tree_and_are_those_of_the_definition(assert_tree, upper_bounds, table):
    values = [str(v) for v, _ in table]
    built = entropy(values, [t for _, t in table], list(table.values()))
    assert_tree(built, values)
    cuts = cuts_by_definition([pair for pair, count in table.items() for _ in range(count)])
    deepest = max((depth for _, depth in cuts), default=0)
    assert built.height == deepest + 1
    for level in range(1, built.height):
        assert upper_bounds(built, level) == sorted(value for value, depth in cuts if depth <= deepest + 1 - level)


@pytest.mark.parametrize(
    ("column", "cuts"), [(0, [5.55, 6.15]), (1, [2.95, 3.35]), (2, [2.45, 4.75]), (3, [0.8, 1.75])]
)
def test_agrees_with_the_well_known_cuts_of_iris(upper_bounds, column, cuts):
    """Three classes; the cuts are those that Weka's supervised Discretize filter reports, at midpoints."""
    datasets = pytest.importorskip("sklearn.datasets")
    iris = datasets.load_iris()
    numbers = sorted(set(iris.data[:, column]))
    built = entropy([str(v) for v in iris.data[:, column]], [str(t) for t in iris.target], [1] * 150)
    midpoints = [(low + min(v for v in numbers if v > low)) / 2 for low in upper_bounds(built, 1)]
    assert midpoints == pytest.approx(cuts)


def mdlp():
    """optbinning's MDLP as plain as its parameters make it: every boundary a candidate, no smallest leaf."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optbinning = pytest.importorskip("optbinning")
    return optbinning.MDLP(min_samples_split=2, min_samples_leaf=1, max_candidates=10**9)


def last_value_below(cuts, numbers):
    """A cut may lie on a value, which then belongs below it, or between two: the value below says the same."""
    return sorted(max(v for v in set(numbers) if v <= cut) for cut in cuts)


@pytest.mark.parametrize("column", ["age", "hours-per-week", "education-num"])
def test_agrees_with_optbinning_on_adult(adult, contingency, upper_bounds, column):
    """optbinning tests the MDL criterion only after it has kept a cut: the test decides whether to look for more.

    So it has our cuts, and in each of our intervals at most the one that Fayyad & Irani's criterion rejects.
    """
    theirs = mdlp()
    counted = contingency(adult[column], adult["salary-class"])
    ours = upper_bounds(entropy(counted.values, counted.targets, counted.counts), 1)
    numbers = [float(v) for v in adult[column]]
    theirs.fit(numbers, [int(t == ">50K") for t in adult["salary-class"]])
    cuts = last_value_below(theirs.splits, numbers)
    assert len(ours) >= 4
    assert set(ours) < set(cuts)
    extra = Counter(sum(bound < cut for bound in ours) for cut in set(cuts) - set(ours))
    assert max(extra.values()) == 1


@pytest.mark.parametrize("column", ["age", "hours-per-week", "education-num"])
def test_agrees_exactly_with_optbinning_once_it_tests_before_it_cuts(adult, contingency, upper_bounds, column):
    """The same gain, candidates and criterion of optbinning, applied in the order of the original paper."""
    theirs = mdlp()

    def recurse(x, y, _):
        split = theirs._find_split(None, x, y)
        at = 0 if split is None else x.searchsorted(split, side="right")
        if at and not theirs._terminate(len(set(x)), len(set(y)), y, y[:at], y[at:]):
            theirs._splits.append(split)
            recurse(x[:at], y[:at], 0)
            recurse(x[at:], y[at:], 0)

    theirs._recurse = recurse
    counted = contingency(adult[column], adult["salary-class"])
    ours = upper_bounds(entropy(counted.values, counted.targets, counted.counts), 1)
    numbers = [float(v) for v in adult[column]]
    theirs.fit(numbers, [int(t == ">50K") for t in adult["salary-class"]])
    assert last_value_below(theirs.splits, numbers) == ours
