"""Screening by samples: what all rows tell is never missed, whatever its groups are, and little else is let through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator

from pacas.engine.grouping import Ints, Keys, combine
from pacas.provider.lint.dependencies import SHARE
from pacas.provider.lint.determination import determination
from pacas.provider.lint.first_look import FEWEST_ROWS, FirstLook
from pacas.provider.lint.screening import FEW, Screening

ROWS = 3 * FEW

Side = Callable[[Generator], tuple[list[Ints], Ints]]
"""A left side and what it tells."""


def small_groups(rng: Generator) -> tuple[list[Ints], Ints]:
    """Three rows each, of which a sample of rows hardly ever holds two."""
    left = rng.permutation(ROWS) // 3
    return [left], rng.integers(0, 50, ROWS)[left]


def large_groups(rng: Generator) -> tuple[list[Ints], Ints]:
    """Four groups, of which a draw of groups may well hold none."""
    left = rng.integers(0, 4, ROWS)
    return [left], np.array([3, 1, 4, 1])[left]


def one_huge_group(rng: Generator) -> tuple[list[Ints], Ints]:
    """Most rows share a key, and a third are in groups of two."""
    left = np.where(rng.random(ROWS) < 0.66, 0, rng.permutation(ROWS) // 2 + 1)
    return [left], rng.integers(0, 9, ROWS)[left]


def small_groups_of_two_columns(rng: Generator) -> tuple[list[Ints], Ints]:
    """Either column alone has large groups; together they have four rows each."""
    both = rng.permutation(ROWS) // 4
    return [both % 130, both // 130], rng.integers(0, 20, ROWS)[both]


def a_few_rows(rng: Generator) -> tuple[list[Ints], Ints]:
    """All but forty rows have one value, and the left side tells which."""
    left = rng.integers(0, ROWS // 20, ROWS)
    return [left], np.where(left < 2, left + 1, 0)


def with_nulls(rng: Generator) -> tuple[list[Ints], Ints]:
    (left,), right = small_groups(rng)
    left[rng.random(ROWS) < 0.3] = -1
    return [left], right


SIDES = [small_groups, large_groups, one_huge_group, small_groups_of_two_columns, a_few_rows, with_nulls]


def keys(values: Ints) -> Keys:
    return Keys(values.astype(np.int32), int(values.max()) + 1, bool((values < 0).any()))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wrong", [0.0, 0.02])
@pytest.mark.parametrize("side", SIDES, ids=lambda side: str(side.__name__))
def test_what_all_rows_tell_is_not_missed(side: Side, wrong: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, right = side(rng)
    errors = rng.random(ROWS) < wrong * (right != np.bincount(right).argmax() if side is a_few_rows else 1)
    right = np.where(errors, rng.integers(0, int(right.max()) + 1, ROWS), right)
    left = [keys(column) for column in columns]
    told = determination(combine(left), keys(right))
    assert told.tells(SHARE - 0.03 if wrong else 1.0, ROWS)  # the case is one
    assert Screening([keys(right)], ROWS, SHARE - 0.03).told_by(left, np.arange(1)) == [0]


@pytest.mark.parametrize("side", SIDES, ids=lambda side: str(side.__name__))
def test_what_a_left_side_does_not_tell_is_mostly_not_counted_again(side: Side) -> None:
    rng = np.random.default_rng(9)
    columns, right = side(rng)
    others = [rng.permutation(right) for _ in range(20)]
    screening = Screening([keys(other) for other in others], ROWS, SHARE)
    assert len(screening.told_by([keys(column) for column in columns], np.arange(20))) <= 1


@pytest.mark.parametrize("seed", range(200))
def test_of_few_rows_nothing_is_missed_and_little_is_counted_again(seed: int) -> None:
    """By the definition itself: groups of all sizes, errors, nulls, and values that most rows have."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 400))
    left = rng.integers(0, rng.integers(1, rows + 1), rows)
    rights = [
        rng.integers(0, 4, rows)[left],
        rng.integers(0, 2, rows)[left] * (left % 7 == 0),
        rng.integers(0, 9, rows),
    ]
    for right in rights[:2]:
        wrong = rng.random(rows) < rng.choice([0.0, 0.02, 0.05])
        right[wrong] = rng.integers(0, 4, int(wrong.sum()))
        right[rng.random(rows) < rng.choice([0.0, 0.2])] = -1
    left[rng.random(rows) < rng.choice([0.0, 0.2])] = -1
    share = float(rng.choice([0.5, 0.9, SHARE, 1.0]))
    found = Screening([keys(right) for right in rights], rows, share).told_by([keys(left)], np.arange(3))
    told = {i for i, right in enumerate(rights) if determination(keys(left), keys(right)).tells(share, rows)}
    assert told <= set(found)
    assert share < SHARE or rows < 100 or left.max() > rows / 2 or 2 not in found


def noise_in_one_large_group(rng: Generator) -> tuple[list[Ints], Ints]:
    """The worst case: who cannot be guessed is in one group, and all others are in groups of two."""
    left = np.where(np.arange(ROWS) < 0.045 * ROWS, 0, np.arange(ROWS) // 2 + 1)
    return [left], np.where(left == 0, rng.integers(0, 50, ROWS), rng.integers(0, 50, ROWS)[left])


def noise_in_middling_groups(rng: Generator) -> tuple[list[Ints], Ints]:
    """Who cannot be guessed is in groups of which the sample has two rows or three; all others are in four groups."""
    left = np.where(np.arange(ROWS) < 0.045 * ROWS, np.arange(ROWS) // 18 + 4, rng.integers(0, 4, ROWS))
    return [left], np.where(left >= 4, rng.integers(0, 50, ROWS), left)


def looked(columns: list[Ints], rights: list[Ints], share: float = SHARE) -> list[bool]:
    """What is not ruled out at a first look, by one column or by two together."""
    look = FirstLook([keys(right) for right in rights], len(rights[0]), share)
    one, *others = [look.sampled(keys(column)) for column in columns]
    may = look.may_tell_together(one, others) if others else look.may_tell([one])
    return [bool(each) for each in may[0]]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("side", [*SIDES, noise_in_one_large_group, noise_in_middling_groups])
def test_a_first_look_rules_nothing_out_that_all_rows_tell(side: Side, seed: int) -> None:
    columns, right = side(np.random.default_rng(seed))
    assert determination(combine([keys(column) for column in columns]), keys(right)).tells(SHARE, ROWS)
    assert looked(columns, [right]) == [True]


@pytest.mark.parametrize("side", [small_groups_of_two_columns, large_groups, with_nulls])
def test_a_first_look_rules_out_nearly_all_that_is_not_told(side: Side) -> None:
    rng = np.random.default_rng(9)
    columns, _ = side(rng)
    others = [rng.integers(0, 20, ROWS) for _ in range(20)]
    others[0][rng.random(ROWS) < 0.2] = -1
    assert sum(looked(columns, others)) <= 1


def test_where_half_may_be_guessed_wrong_a_first_look_rules_nothing_out() -> None:
    rng = np.random.default_rng(9)
    assert looked([rng.integers(0, 100, ROWS)], [rng.integers(0, 9, ROWS)], share=0.5) == [True]


@pytest.mark.parametrize("rows", [2, 30, FEWEST_ROWS, FEWEST_ROWS + 1])
def test_a_first_look_at_few_rows(rows: int) -> None:
    left, ids = np.arange(rows) // 2, np.arange(rows)
    assert looked([left], [left % 7]) == [True]
    assert looked([ids], [left % 7]) == [True]  # no two rows to compare
    assert looked([left], [np.full(rows, -1)]) == [True]
