from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import intervals
from pacas.errors import HierarchyError

numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.integers(10**15, 10**20).map(str),
)


def test_intervals_of_whole_numbers_are_closed():
    rows = list(intervals(["59", "30", "7"], widths=[10, 30]).rows())
    assert rows == [("7", "[0,9]", "[0,29]", "*"), ("30", "[30,39]", "[30,59]", "*"), ("59", "[50,59]", "[30,59]", "*")]


def test_intervals_of_other_numbers_are_half_open():
    assert list(intervals(["29.99", "30"], widths=[30]).rows()) == [("29.99", "[0,30)", "*"), ("30", "[30,60)", "*")]
    assert list(intervals(["1"], widths=[0.5]).rows()) == [("1", "[1,1.5)", "*")]
    assert list(intervals(["1"], widths=[1], origin=0.25).rows()) == [("1", "[0.25,1.25)", "*")]


def test_whole_numbers_may_be_spelled_as_floats():
    built = intervals(["51", "51.0", "051"], widths=[10.0], origin=1.0)
    assert list(built.rows()) == [("51", "[51,60]", "*")]
    assert built.numeric


def test_origin_shifts_every_level_below_zero_too():
    assert list(intervals(["-1", "0", "1"], widths=[10, 30], origin=1).rows()) == [
        ("-1", "[-9,0]", "[-29,0]", "*"),
        ("0", "[-9,0]", "[-29,0]", "*"),
        ("1", "[1,10]", "[1,30]", "*"),
    ]


def test_a_value_on_a_bound_belongs_above_it_where_floats_would_say_below():
    assert 0.3 // 0.1 == 2
    values = [f"{tenths / 10}" for tenths in range(50)]
    for value, label, _ in intervals(values, widths=[0.1]).rows():
        assert label.startswith(f"[{value},")


def test_numbers_too_large_for_a_float_keep_their_interval():
    built = intervals(["9007199254740992", "9007199254740993", "9007199254740994"], widths=[2])
    assert [row[1] for row in built.rows()] == ["[9007199254740992,9007199254740993]"] * 2 + [
        "[9007199254740994,9007199254740995]"
    ]


@pytest.mark.parametrize("widths", [[], [0], [-5], [10, 10], [30, 10], [10, 25], [float("inf")]])
def test_widths_that_do_not_nest_are_an_error(widths):
    with pytest.raises(HierarchyError, match="widths"):
        intervals(["1"], widths=widths)


@pytest.mark.parametrize("wrong", ["secret", "nan", "inf", "1e999"])
def test_values_that_are_not_numbers_are_counted_and_not_shown(wrong):
    with pytest.raises(HierarchyError, match=r"^2 of 3 values are not numbers") as caught:
        intervals(["1", wrong, wrong], widths=[10])
    assert wrong not in str(caught.value)


def test_no_values_are_an_error():
    with pytest.raises(HierarchyError, match="no values"):
        intervals([], widths=[10])


@given(
    values=st.lists(numbers, min_size=1, max_size=30),
    first=st.sampled_from([0.1, 0.25, 1, 2.5, 3, 10]),
    factors=st.lists(st.integers(2, 5), max_size=3),
    origin=st.sampled_from([0, 1, -7, 0.3]),
)
def test_intervals_form_a_tree_and_hold_their_values(assert_tree, values, first, factors, origin):
    widths = [first]
    for factor in factors:
        widths.append(round(widths[-1] * factor, 6))
    built = intervals(values, widths=widths, origin=origin)
    assert_tree(built, values)
    assert built.height == len(widths) + 1
    for value, *labels, _ in built.rows():
        for label in labels:
            low, high = (float(bound) for bound in label.strip("[])").split(","))
            assert low <= float(value) <= high


@pytest.mark.parametrize(("column", "widths"), [("age", [5, 10, 30]), ("fnlwgt", [1000, 50000]), ("capital-gain", [7])])
def test_agrees_with_pandas_cut_on_adult(adult, column, widths):
    pd = pytest.importorskip("pandas")
    values = [int(v) for v in adult[column]]
    built = intervals(adult[column], widths=widths)
    for level, width in enumerate(widths, start=1):
        edges = list(range(0, max(values) + width + 1, width))
        expected = pd.cut(pd.Series(values), edges, right=False, labels=False)
        ours = [built.generalize_value(v, level) for v in adult[column]]
        assert ours == [f"[{edges[i]},{edges[i + 1] - 1}]" for i in expected]
