"""Weights: whole nanocredits that sum to the total, in proportion, or at the prices of given views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lanes import examples
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

from pacas.core.money import nanocredits
from pacas.errors import InputError
from pacas.provider.pricing.exact_basis import ExactBasis
from pacas.provider.pricing.price_points import PricePoint, price_point_weights
from pacas.provider.support.weights import (
    LEAST_WEIGHT,
    MOST_TOTAL,
    Factor,
    Weighing,
    check_weights,
    sensitivity_weights,
    uniform_weights,
)

Ints = NDArray[np.int64]

TOTALS = st.one_of(st.integers(0, 50), st.integers(0, MOST_TOTAL), st.sampled_from([10**9, 10**12, MOST_TOTAL]))
COUNTS = st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any)
FACTORS: st.SearchStrategy[Factor] = st.one_of(
    st.integers(1, 9), st.floats(1e-6, 1e6), st.sampled_from([0.1, 2.5, "0.3"])
)


# ---- uniform ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("total", "count"), [(10, 3), (10**9, 7), (5, 5), (0, 4), (MOST_TOTAL, 11)])
def test_uniform_weights_sum_to_the_total_and_differ_by_at_most_one(total: int, count: int) -> None:
    weights = uniform_weights(total, count)
    assert int(weights.sum()) == total
    assert int(weights.max() - weights.min()) <= 1


@pytest.mark.parametrize("total", [-1, MOST_TOTAL + 1])
def test_a_total_that_weights_cannot_sum_to_is_an_error(total: int) -> None:
    for spread in (
        lambda: uniform_weights(total, 3),
        lambda: sensitivity_weights(total, [3], [1]),
        lambda: price_point_weights(total, 3, []),
        lambda: check_weights(total, [3]),
    ):
        with pytest.raises(InputError, match="the total must be from 0 to 1000000000 credits"):
            spread()


# ---- sensitivity -----------------------------------------------------------------------------------------------------


@examples(100)
@given(TOTALS, COUNTS, st.data())
def test_a_neighbour_weighs_by_its_number_what_it_weighs_among_all(
    total: int, counts: list[int], data: st.DataObject
) -> None:
    factors = [data.draw(FACTORS) for _ in counts]
    every = np.arange(sum(counts))
    assert Weighing(total, counts, factors).of(every).tolist() == sensitivity_weights(total, counts, factors).tolist()
    assert Weighing(total, counts).of(every).tolist() == uniform_weights(total, len(every)).tolist()
    some = every[:: data.draw(st.integers(1, 4))][::-1]
    assert Weighing(total, counts).of(some).tolist() == uniform_weights(total, len(every))[some].tolist()


@examples(100)
@given(TOTALS, COUNTS, st.data())
def test_weights_by_sensitivity_are_in_proportion_and_sum_to_the_total(
    total: int, counts: list[int], data: st.DataObject
) -> None:
    factors = [data.draw(FACTORS) for _ in counts]
    weights = sensitivity_weights(total, counts, factors).tolist()
    each = [Fraction(str(f)) for f, n in zip(factors, counts, strict=True) for _ in range(n)]
    shares = [total * factor / sum(each) for factor in each]
    assert sum(weights) == total
    assert all(weight in (int(share), int(share) + 1) for weight, share in zip(weights, shares, strict=True))
    order = sorted(range(len(each)), key=lambda i: (int(shares[i]) - shares[i], i))
    raised = {i for i, share in enumerate(shares) if weights[i] > int(share)}
    assert raised == set(order[: len(raised)]), "largest remainders first, then lowest numbers"


def test_equal_factors_are_uniform() -> None:
    assert sensitivity_weights(23, [2, 3, 4], [0.7, 0.7, 0.7]).tolist() == uniform_weights(23, 9).tolist()


def test_a_factor_is_the_decimal_that_is_written() -> None:
    assert sensitivity_weights(10**18, [1, 1], [0.1, 0.3]).tolist() == [25 * 10**16, 75 * 10**16]


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf"), "much"])
def test_a_factor_that_is_no_positive_number_is_an_error(factor: float | str) -> None:
    with pytest.raises(InputError, match="a sensitivity factor must be a positive number"):
        sensitivity_weights(100, [1, 1], [1, factor])


# ---- the least weight ------------------------------------------------------------------------------------------------


def test_a_total_too_small_names_the_least_weight_and_a_total_that_suffices() -> None:
    with pytest.raises(InputError) as caught:
        check_weights(10**6, [3_000_000, 450_000])
    assert str(caught.value) == (
        "a total of 0.001 credits is too small: the least neighbour would weigh 0 nanocredits, under the 100 it needs; "
        "a total of 0.345 credits suffices"
    )
    check_weights(345_000_000, [3_450_000])


@examples(100)
@given(st.integers(0, 10**5), COUNTS, st.data())
def test_the_least_weight_is_checked_and_the_named_total_suffices(
    total: int, counts: list[int], data: st.DataObject
) -> None:
    factors = data.draw(st.none() | st.lists(FACTORS, min_size=len(counts), max_size=len(counts)))

    def least(total: int) -> int:
        uniform = uniform_weights(total, sum(counts))
        return int((uniform if factors is None else sensitivity_weights(total, counts, factors)).min())

    if least(total) >= LEAST_WEIGHT:
        check_weights(total, counts, factors)
        return
    with pytest.raises(InputError, match=f"would weigh {least(total)} nanocredits") as caught:
        check_weights(total, counts, factors)
    named = re.search(r"a total of (\S+) credits suffices", str(caught.value))
    if named:
        enough = nanocredits(named[1])
        assert least(enough) >= LEAST_WEIGHT
        check_weights(enough, counts, factors)


def test_factors_too_far_apart_for_any_total_say_so() -> None:
    with pytest.raises(InputError, match="no total up to 1000000000 credits suffices"):
        check_weights(10**9, [1, 1], [1e-18, 1])


def test_no_neighbours_have_nothing_to_weigh() -> None:
    check_weights(10**9, [0, 0], [1, 2])
    assert len(uniform_weights(10**9, 0)) == len(sensitivity_weights(10**9, [0], [1])) == 0
    assert len(price_point_weights(10**9, 0, [PricePoint("a", np.zeros(0, dtype=np.int64), 0)])) == 0


# ---- price points ----------------------------------------------------------------------------------------------------


def point(name: str, conflicts: Sequence[int], price: int) -> PricePoint:
    return PricePoint(name, np.array(conflicts, dtype=np.int64), price)


def views(data: st.DataObject, count: int, most: int = 5) -> list[list[int]]:
    """Conflict sets, many of them equal, nested, complementary or empty."""
    sets: list[set[int]] = []
    for _ in range(data.draw(st.integers(0, most))):
        new = data.draw(st.sets(st.integers(0, count - 1)))
        match data.draw(st.integers(0, 3)) if sets else 0:
            case 1:
                new = set(range(count)) - data.draw(st.sampled_from(sets))
            case 2:
                new = new | data.draw(st.sampled_from(sets))
            case 3:
                new = set(data.draw(st.sampled_from(sets)))
        sets.append(new)
    return [sorted(s) for s in sets]


@st.composite
def satisfiable(draw: st.DrawFn, most: int = 10) -> tuple[int, int, list[PricePoint]]:
    """Points at the prices that some weights give; zeros among these put the solution on the boundary."""
    data = draw(st.data())
    unit = draw(st.sampled_from([1, 10**6, 10**15]))
    some = st.integers(1, 9).map(lambda w: w * unit + w % 3)
    hidden = draw(st.lists(st.just(0) | some, min_size=1, max_size=most))
    sets = views(data, len(hidden))
    return sum(hidden), len(hidden), [point(f"v{j}", s, sum(hidden[i] for i in s)) for j, s in enumerate(sets)]


def membership(count: int, points: Sequence[PricePoint]) -> NDArray[np.float64]:
    rows = [np.ones(count), *(np.isin(np.arange(count), p.conflicts).astype(float) for p in points)]
    return np.array(rows)


def can_hold(total: int, count: int, points: Sequence[PricePoint]) -> bool:
    prices = [total, *(p.price for p in points)]
    found = linprog(np.zeros(count), A_eq=membership(count, points), b_eq=prices, bounds=(0, None), method="highs")
    return bool(found.status == 0)


@examples(100)
@given(satisfiable())
def test_price_points_hold_and_weights_sum_to_the_total(case: tuple[int, int, list[PricePoint]]) -> None:
    total, count, points = case
    weights = price_point_weights(total, count, points)
    assert weights.dtype == np.int64
    assert len(weights) == count
    assert min(weights.tolist()) >= 0
    assert sum(weights.tolist()) == total
    for p in points:
        assert abs(sum(weights[p.conflicts].tolist()) - p.price) <= len(p.conflicts)
    assert weights.tolist() == price_point_weights(total, count, points).tolist(), "the same every time"


@examples(80)
@given(satisfiable())
def test_weights_have_the_form_of_maximum_entropy(case: tuple[int, int, list[PricePoint]]) -> None:
    """log w is a sum of one number per conflicting view, wherever w can be positive; elsewhere w is 0."""
    total, count, points = case
    assume(total >= 10**6)
    weights = price_point_weights(total, count, points).astype(float)
    rows = membership(count, points)
    heavy = weights > 1e-4 * total
    target = np.log(weights[heavy])
    fit = np.linalg.lstsq(rows[:, heavy].T, target, rcond=None)[0] @ rows[:, heavy]
    assert np.abs(target - fit).max(initial=0) < 0.05
    prices = np.array([1.0, *(p.price / total for p in points)])
    for i in np.flatnonzero(~heavy):  # not far below what it could be: no entropy is left by the wayside
        most = linprog(-np.eye(count)[i], A_eq=rows, b_eq=prices, bounds=(0, None), method="highs")
        assert most.status != 0 or -most.fun < 1e-2


@examples(40)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=8), st.data())
def test_no_other_solver_finds_more_entropy(hidden: list[int], data: st.DataObject) -> None:
    unit = 10**9
    count, total = len(hidden), sum(hidden) * unit
    sets = views(data, count, 3)
    points = [point(f"v{j}", s, sum(hidden[i] for i in s) * unit) for j, s in enumerate(sets)]
    mine = price_point_weights(total, count, points) / total
    rows, start = membership(count, points), np.array(hidden) * unit / total
    independent = rows[sorted(set(_independent(rows)))]

    def negative_entropy(w: NDArray[np.float64]) -> float:
        w = np.maximum(w, 1e-15)
        return float(w @ np.log(w))

    constraint = {"type": "eq", "fun": lambda w: independent @ (w - start), "jac": lambda w: independent}
    theirs = minimize(
        negative_entropy,
        start,
        jac=lambda w: np.log(np.maximum(w, 1e-15)) + 1,
        bounds=[(0, 1)] * count,
        constraints=[constraint],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert negative_entropy(mine) <= negative_entropy(theirs.x) + 1e-6
    assert negative_entropy(mine) <= negative_entropy(start) + 1e-9
    if theirs.success:
        assert mine == pytest.approx(theirs.x, abs=1e-4)


def _independent(rows: NDArray[np.float64]) -> list[int]:
    kept: list[int] = []
    for j in range(len(rows)):
        if np.linalg.matrix_rank(rows[[*kept, j]]) > len(kept):
            kept.append(j)
    return kept


def test_without_points_weights_are_uniform() -> None:
    assert price_point_weights(23, 9, []).tolist() == uniform_weights(23, 9).tolist()


def test_disjoint_views_share_their_prices_equally() -> None:
    points = [point("a", [0, 1, 2], 600), point("b", [3], 50)]
    assert price_point_weights(1000, 8, points).tolist() == [200, 200, 200, 50, 88, 88, 87, 87]


def test_independent_views_multiply() -> None:
    """Two views, each halving the neighbours: a neighbour's weight is the product of its sides."""
    points = [point("a", [0, 1], 10**9 // 5), point("b", [0, 2], 10**9 // 10)]
    assert price_point_weights(10**9, 4, points).tolist() == [20_000_000, 180_000_000, 80_000_000, 720_000_000]


def test_a_free_view_takes_its_neighbours_weight_away() -> None:
    assert price_point_weights(90, 4, [point("free", [1], 0)]).tolist() == [30, 0, 30, 30]


def test_a_view_worth_everything_leaves_the_others_nothing() -> None:
    assert price_point_weights(90, 4, [point("all", [0, 3], 90)]).tolist() == [45, 0, 0, 45]


def test_nested_views_at_one_price_empty_what_lies_between() -> None:
    points = [point("inner", [0, 1], 60), point("outer", [0, 1, 2], 60)]
    assert price_point_weights(100, 5, points).tolist() == [30, 30, 0, 20, 20]


def test_zeros_that_only_follow_from_several_points_together_are_found() -> None:
    """a and b sum to the price of their union, so nothing is left for what they share."""
    points = [point("a", [0, 1], 30), point("b", [1, 2], 50), point("either", [0, 1, 2], 80)]
    assert price_point_weights(100, 4, points).tolist() == [30, 0, 50, 20]


def test_what_is_not_forced_to_zero_still_has_maximum_entropy() -> None:
    """Neighbour 2 must weigh nothing; over the others the two views are independent, so their shares multiply."""
    points = [point("inner", [0, 1], 600), point("outer", [0, 1, 2], 600), point("across", [0, 3], 100)]
    assert price_point_weights(1000, 5, points).tolist() == [60, 540, 0, 40, 360]


def test_doubled_and_complementary_points_are_harmless() -> None:
    points = [point("a", [0, 1], 30), point("again", [1, 0, 1], 30), point("rest", [2, 3, 4], 70)]
    assert price_point_weights(100, 5, points).tolist() == [15, 15, 24, 23, 23]


def test_one_nanocredit_counts_beside_the_largest_total() -> None:
    points = [point("least", [0], 1), point("most", [0, 1], MOST_TOTAL - 1)]
    weights = price_point_weights(MOST_TOTAL, 3, points)
    assert weights.tolist() == [1, MOST_TOTAL - 2, 1]
    clashing = [point("inner", [0], MOST_TOTAL // 2), point("outer", [0, 1], MOST_TOTAL // 2 - 1)]
    with pytest.raises(InputError, match="'inner', 'outer'"):
        price_point_weights(MOST_TOTAL, 3, clashing)


def test_where_whole_weights_cannot_meet_the_prices_they_come_as_near_as_promised() -> None:
    points = [point("a", [0, 1], 1), point("b", [0, 2], 1), point("c", [1, 2], 1)]
    weights = price_point_weights(2, 4, points)
    assert int(weights.sum()) == 2
    assert all(abs(int(weights[p.conflicts].sum()) - p.price) <= 2 for p in points)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (point("p", [0], 101), "the price of price point 'p' must be from 0 to the total"),
        (point("p", [0], -1), "the price of price point 'p' must be from 0 to the total"),
        (point("p", [], 1), "price point 'p' conflicts with no neighbour: its price can only be 0"),
        (point("p", [0, 1, 2], 99), "price point 'p' conflicts with every neighbour: its price can only be the total"),
        (point("p", [3], 1), "price point 'p' names neighbours that the support set does not have"),
        (point("p", [-1], 1), "price point 'p' names neighbours that the support set does not have"),
    ],
)
def test_a_point_that_cannot_hold_by_itself_is_named(bad: PricePoint, message: str) -> None:
    with pytest.raises(InputError) as caught:
        price_point_weights(100, 3, [point("fine", [1], 20), bad])
    assert str(caught.value) == message


def test_a_clash_names_only_the_points_that_clash() -> None:
    points = [point("x", [4], 5), point("a", [0, 1], 60), point("y", [3, 4], 20), point("b", [1, 2], 70)]
    points.append(point("shared", [1], 10))  # a + b − shared = 120: more than the total
    with pytest.raises(InputError) as caught:
        price_point_weights(100, 6, points)
    assert str(caught.value) == (
        "these price points cannot hold together: 'a', 'b', 'shared'; change the price of one of them, or the total"
    )


@examples(100)
@given(st.integers(2, 7), st.data())
def test_a_named_clash_is_real_and_none_of_its_points_can_be_left_out(count: int, data: st.DataObject) -> None:
    total = 20
    sets = [s for s in views(data, count, 6) if 0 < len(s) < count]
    points = [point(f"v{j}", s, data.draw(st.integers(0, total))) for j, s in enumerate(sets)]
    try:
        price_point_weights(total, count, points)
    except InputError as error:
        named = [p for p in points if repr(p.name) in str(error)]
        assert not can_hold(total, count, named)
        for left_out in named:
            assert can_hold(total, count, [p for p in named if p is not left_out])
    else:
        assert can_hold(total, count, points)


# ---- the exact arithmetic below --------------------------------------------------------------------------------------


@examples(80)
@given(satisfiable(8))
def test_an_inner_solution_is_exact_and_positive_wherever_any_is(case: tuple[int, int, list[PricePoint]]) -> None:
    total, count, points = case
    rows = membership(count, points).astype(np.int64)
    prices = [total, *(p.price for p in points)]
    basis = ExactBasis(rows, prices)
    assert basis.find_solution() == []
    inner = basis.interior()
    assert min(inner) >= 0
    for row, price in zip(rows, prices, strict=True):
        assert sum(value for value, inside in zip(inner, row, strict=True) if inside) == price
    for column in range(count):
        one = np.eye(count)[column]
        scaled = [price / max(total, 1) for price in prices]
        most = linprog(-one, A_eq=rows, b_eq=scaled, bounds=(0, None), method="highs")
        if most.status == 0 and -most.fun > 1e-3:
            assert inner[column] > 0


@pytest.mark.parametrize(
    ("rows", "prices"),
    [
        ([[1, 1], [1, 0]], [20, 20]),
        ([[1, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 0]], [20, 0, 20]),
        ([[1, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]], [50, 20, 30, 20]),
    ],
)
def test_a_row_that_starts_out_met_stays_met(rows: list[list[int]], prices: list[int]) -> None:
    basis = ExactBasis(np.array(rows), prices)
    assert basis.find_solution() == []
    inner = basis.interior()
    assert [sum(v for v, inside in zip(inner, row, strict=True) if inside) for row in rows] == prices


# ---- size ------------------------------------------------------------------------------------------------------------


def test_millions_of_neighbours_and_a_few_points() -> None:
    count, total = 3_450_000, 10**12
    draw = np.random.default_rng(7)
    points = []
    for j, (part, dearness) in enumerate([(0.5, 1.2), (0.1, 0.5), (0.02, 3), (0.3, 1), (0.001, 10)]):
        conflicts = np.flatnonzero(draw.random(count) < part)
        points.append(PricePoint(f"v{j}", conflicts, int(total * part * dearness)))
    weights = price_point_weights(total, count, points)
    assert int(weights.sum()) == total
    assert [int(weights[p.conflicts].sum()) for p in points] == [p.price for p in points]
