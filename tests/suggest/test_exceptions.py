"""Which exceptions of a dependency are right, by the rest of their rows."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from pacas.core.dependency import FunctionalDependency
from pacas.core.relation import Relation
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.exceptions import Exceptions

Rest = Literal["of the value", "of the group", "of neither"]
SIGNS = ["sign 0", "sign 1", "sign 2"]


def seem_right(
    rest: Rest, *, right: float = 1.0, seed: int = 0, rows: int = 600, value: str | None = None, misplaced: bool = False
) -> float:
    """A tenth of the rows has another value than its group; other columns go with the one, the other, or neither.

    Of a share of them they go with the value in any case; `value` is what all of them have instead. `misplaced` ones
    have another number than their group, too.
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(0, rows // 5, rows)
    usual = group % 4
    is_other = rng.random(rows) < 0.1
    values = np.where(is_other, (usual + rng.integers(1, 4, rows)) % 4, usual)
    sign = np.where(rng.random(rows) < right, values, usual) if rest == "of the value" else usual
    columns = {
        name: np.where(rng.random(rows) < (0.0 if rest == "of neither" else 0.6), sign, rng.integers(0, 4, rows))
        for name in SIGNS
    }
    texts = [value if value and other else f"value {v}" for other, v in zip(is_other.tolist(), values, strict=True)]
    table = {"group": [f"group {g}" for g in group], "value": texts} | {
        name: [f"{name}: {code}" for code in codes] for name, codes in columns.items()
    }
    table["number"] = [f"{g * 7 + (misplaced and bool(other))}" for g, other in zip(group, is_other, strict=True)]
    coded = CodedTable.from_data(Relation.of(table))
    return Exceptions.of(coded, FunctionalDependency(("group",), "value")).seem_right(SIGNS, ["number"])


@pytest.mark.parametrize("seed", range(5))
def test_exceptions_that_the_rest_of_their_rows_goes_with_are_right(seed: int) -> None:
    assert seem_right("of the value", seed=seed) > 0.7


@pytest.mark.parametrize("seed", range(5))
def test_exceptions_that_stand_in_rows_like_those_of_their_group_are_errors(seed: int) -> None:
    assert seem_right("of the group", seed=seed) < 0.3


def test_of_many_it_is_told_how_many_are_right() -> None:
    assert seem_right("of the value", right=0.3, rows=6_000) == pytest.approx(0.3, abs=0.12)


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_have_nothing_to_do_with_it_tell_nothing(seed: int) -> None:
    assert seem_right("of neither", seed=seed) == 0


def test_a_value_that_no_group_mostly_has_is_an_error_however_often_it_is_seen() -> None:
    assert seem_right("of the value", value="valeu 1") == 0


def test_rows_that_differ_from_their_group_in_other_columns_too_are_misplaced_and_tell_nothing() -> None:
    assert seem_right("of the value", misplaced=True) == 0
