from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import quantiles
from pacas.errors import HierarchyError


def test_bins_hold_equally_many_rows():
    built = quantiles([str(v) for v in range(1, 17)], [1] * 16, bins=[4, 2])
    assert built.at_level(1) == ["[1,4]", "[5,8]", "[9,12]", "[13,16]"]
    assert built.at_level(2) == ["[1,8]", "[9,16]"]
    assert built.numeric


def test_counts_weigh_the_values():
    assert quantiles(["1", "2", "3"], [6, 1, 1], bins=[2]).at_level(1) == ["[1,3]"]
    assert quantiles(["1", "2", "3"], [1, 1, 6], bins=[2]).at_level(1) == ["[1,3]"]
    assert quantiles(["1", "2", "3"], [1, 6, 1], bins=[2]).at_level(1) == ["[1,2]", "[3,3]"]


def test_quantiles_that_coincide_are_one_cut():
    built = quantiles(["1", "2", "9"], [2, 10, 2], bins=[4])
    assert built.at_level(1) == ["[1,2]", "[9,9]"]


def test_rows_of_one_value_in_several_parts_are_added_up():
    parts = quantiles(["1", "2", "2", "2.0", "3"], [3, 1, 1, 1, 3], bins=[3])
    assert list(parts.rows()) == list(quantiles(["1", "2", "3"], [3, 3, 3], bins=[3]).rows())


@pytest.mark.parametrize("bins", [[], [1], [4, 4], [2, 4], [8, 3]])
def test_bins_that_do_not_nest_are_an_error(bins):
    with pytest.raises(HierarchyError, match="bins"):
        quantiles(["1"], [1], bins=bins)


def test_values_that_are_not_numbers_are_counted_and_not_shown():
    with pytest.raises(HierarchyError, match=r"^1 of 2 values are not numbers") as caught:
        quantiles(["1", "secret"], [1, 1])
    assert "secret" not in str(caught.value)


def by_definition(rows: list[int], many: int) -> dict[int, int]:
    """The bin of each value by the definition: exact linear interpolation, equal quantiles dropped, (low, high]."""
    rows = sorted(rows)
    edges = []
    for i in range(many + 1):
        at = Fraction(i * (len(rows) - 1), many)
        low = int(at)
        high = min(low + 1, len(rows) - 1)
        edges.append(rows[low] + (at - low) * (rows[high] - rows[low]))
    edges = sorted(set(edges))
    return {v: max(1, sum(edge < v for edge in edges)) for v in rows}


@given(
    counts=st.dictionaries(st.integers(-50, 50), st.integers(1, 9), min_size=1, max_size=20),
    bins=st.sampled_from([(8, 4, 2), (12, 6, 3), (10, 5), (7,), (9, 3)]),
)
def test_bins_form_a_tree_and_follow_the_definition(assert_tree, counts, bins):
    values = [str(v) for v in counts]
    built = quantiles(values, list(counts.values()), bins=bins)
    assert_tree(built, values)
    rows = [v for v, count in counts.items() for _ in range(count)]
    for level, many in enumerate(bins, start=1):
        expected = by_definition(rows, many)
        ours = {v: built.generalize_value(str(v), level) for v in counts}
        assert len({(expected[v], ours[v]) for v in counts}) == len(set(expected.values())) == len(set(ours.values()))


@pytest.mark.parametrize("column", ["age", "hours-per-week", "education-num", "fnlwgt", "capital-gain"])
@pytest.mark.parametrize("bins", [(8, 4, 2), (10, 5)])
def test_agrees_with_pandas_qcut_on_adult(adult, contingency, column, bins):
    pd = pytest.importorskip("pandas")
    counted = contingency(adult[column])
    built = quantiles(counted.values, counted.counts, bins=bins)
    numbers = pd.Series(adult[column]).astype(float)
    for level, many in enumerate(bins, start=1):
        expected = pd.qcut(numbers, many, labels=False, duplicates="drop")
        spans = numbers.groupby(expected).agg(["min", "max"]).astype(int)
        assert built.at_level(level) == [f"[{low},{high}]" for low, high in spans.itertuples(index=False)]
