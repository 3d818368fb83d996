"""Reserved units: every X-group keeps enough rows, and no more units than needed are kept back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.provider.quoter.reserving import reserved_units
from pacas.provider.quoter.units import Draw

ROWS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 6), st.booleans()), max_size=14)


def lots(seed: int, units: int) -> Draw:
    return np.random.default_rng(seed).integers(0, 2**64, units, dtype=np.uint64).take


def arrays(rows: list[tuple[int, int, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    group, unit, unsold = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    _, unit = np.unique(unit, return_inverse=True)
    gone = np.zeros(len(unit), dtype=bool)
    for number in set(unit.tolist()):  # a unit is for sale, or it is not
        gone[unit == number] = bool(unsold[unit == number].all())
    return group, unit, gone


def open_rows(group: np.ndarray, unit: np.ndarray, unsold: np.ndarray, chosen: np.ndarray) -> dict[int, int]:
    return {g: int(((group == g) & (unsold | chosen[unit])).sum()) for g in set(group.tolist()) - {-1}}


@given(ROWS, st.integers(1, 3), st.integers(0, 5))
def test_every_group_keeps_enough_rows(rows: list[tuple[int, int, bool]], keep: int, seed: int) -> None:
    group, unit, unsold = arrays(rows)
    units = int(unit.max(initial=-1)) + 1
    chosen = reserved_units(group, unit, keep, lots(seed, units), unsold)
    for g, count in open_rows(group, unit, unsold, chosen).items():
        assert count >= min(keep, int((group == g).sum()))
    for number in np.flatnonzero(chosen):  # and none of the units is there for nothing
        fewer = chosen.copy()
        fewer[number] = False
        left = open_rows(group, unit, unsold, fewer)
        assert any(left[g] < min(keep, int((group == g).sum())) for g in left)


@given(st.lists(st.integers(0, 4), max_size=14), st.integers(1, 3))
def test_with_one_row_a_request_no_fewer_would_do(groups: list[int], keep: int) -> None:
    group = np.array(groups, dtype=np.int64)
    unit, nobody = np.arange(len(group)), np.zeros(len(group), dtype=bool)
    chosen = reserved_units(group, unit, keep, lots(0, len(group)), nobody)
    assert chosen.sum() == sum(min(keep, groups.count(g)) for g in set(groups))


def test_a_row_that_nobody_can_buy_keeps_its_groups_secret() -> None:
    group, unit = np.array([0, 0, 1, 1]), np.arange(4)
    chosen = reserved_units(group, unit, 1, lots(0, 4), np.array([True, False, False, False]))
    assert chosen.tolist()[:2] == [False, False] and chosen.sum() == 1


@given(st.permutations(range(8)))
def test_who_is_drawn_does_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    group, unit = np.array([0, 0, 1, 1, 2, 2, 2, 0]), np.array([0, 1, 2, 3, 4, 5, 5, 6])
    draw, nobody = lots(0, 7), np.zeros(8, dtype=bool)
    whole = reserved_units(group, unit, 1, draw, nobody)
    assert (reserved_units(group[order], unit[order], 1, draw, nobody) == whole).all()


@pytest.mark.parametrize(("sizes", "kept"), [((2, 3), 1), ((2, 19), 1), ((2, 21), 0), ((2, 3, 1), 2), ((2, 2), 0)])
def test_a_pair_is_kept_back_last(sizes: tuple[int, ...], kept: int) -> None:
    """Two rows that contradict each other have to be bought; the others of the group serve its secret as well."""
    unit = np.repeat(np.arange(len(sizes)), sizes)
    group, nobody, lot = np.zeros(len(unit), dtype=np.int64), np.zeros(len(unit), dtype=bool), np.arange(3, dtype="u8")
    assert np.flatnonzero(reserved_units(group, unit, 1, lot.take, nobody)).tolist() == [kept]
    spread = np.concatenate([group, np.arange(1, 3)])  # and where the pair would serve two more groups besides
    rows = np.concatenate([unit, [0, 0]])
    chosen = reserved_units(spread, rows, 1, lot.take, np.zeros(len(rows), dtype=bool))
    assert chosen[0] and chosen.sum() == 1
