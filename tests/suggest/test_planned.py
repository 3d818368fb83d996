"""Which cells that a cleaning would change may be right as they are."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from pacas.core.relation import Relation
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.planned import FEW, MayBeRight, PlannedChanges

TOWNS = [f"{name} {place}" for name in ("North", "South", "East", "West") for place in ("Harbour", "Bridge", "Field")]
Wrong = Callable[[str, int], str | None]


def planned(wrong: Wrong, *, changed: int = 20, rest: str = "", seed: int = 0) -> MayBeRight:
    """Of 600 rows with a town each so many have another, and would get their own again.

    `rest` says what another column goes with: the town that is meant, or the one that stands there.
    """
    drawn = random.Random(seed)
    meant = [drawn.choice(TOWNS) for _ in range(600)]
    shown = [wrong(town, row) if row < changed else town for row, town in enumerate(meant)]
    table: dict[str, list[str | None]] = {
        "street": [f"street {drawn.randrange(40)}" for _ in meant],
        "town": list(shown),
    }
    if rest:
        table["area"] = [f"area of {town}" for town in (meant if rest == "meant" else shown)]
    coded = CodedTable.from_data(Relation.of(table))
    return PlannedChanges(coded, "town", np.arange(changed), meant[:changed]).may_be_right({"town", "street"})


def may_be_right(wrong: Wrong, *, changed: int = 20, rest: str = "", seed: int = 0) -> float:
    return sum(planned(wrong, changed=changed, rest=rest, seed=seed))


def another(town: str, row: int) -> str:
    return TOWNS[(TOWNS.index(town) + 1 + row % (len(TOWNS) - 1)) % len(TOWNS)]


def test_what_is_misspelled_is_wrong() -> None:
    assert may_be_right(lambda town, _: town[:2] + town[3:], changed=2) == 0


def test_another_number_is_not_misspelled() -> None:
    zips = CodedTable.from_data(Relation.of({"zip": ["11209"] * 30 + ["11229"] + ["1120"]}))
    assert sum(PlannedChanges(zips, "zip", np.array([30]), ["11209"]).may_be_right({"zip"})) == 1
    assert sum(PlannedChanges(zips, "zip", np.array([31]), ["11209"]).may_be_right({"zip"})) == 0


@pytest.mark.parametrize("changed", [FEW - 1, FEW])
def test_a_few_values_of_their_own_may_be_rare_and_right_but_not_many(changed: int) -> None:
    assert may_be_right(lambda _, row: f"{row} of nowhere", changed=changed) == (changed < FEW)


def test_values_of_their_own_tell_nothing_where_many_are() -> None:
    names = CodedTable.from_data(Relation.of({"name": [f"name {i}" for i in range(60)] + ["a name"] * 140}))
    assert sum(PlannedChanges(names, "name", np.arange(12), ["a name"] * 12).may_be_right({"name"})) == 1


def test_what_is_empty_may_be_so_by_right() -> None:
    assert may_be_right(lambda *_: None) == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rest", "right"), [("meant", 0.0), ("shown", 1.0), ("", 1.0)])
def test_of_values_that_others_have_the_rest_of_the_row_tells_and_else_nothing_does(
    rest: str, right: float, seed: int
) -> None:
    assert may_be_right(another, rest=rest, seed=seed) == pytest.approx(right, abs=0.1)


@pytest.mark.parametrize(("rest", "found"), [("shown", (1.0, 0.0, 0.0)), ("", (0.0, 1.0, 0.0))])
def test_what_seems_right_is_told_from_what_nothing_tells_of(rest: str, found: tuple[float, float, float]) -> None:
    assert planned(another, rest=rest) == pytest.approx(found, abs=0.1)


def test_errors_strike_blindly_and_do_not_put_one_value_for_one_other_again_and_again() -> None:
    town, other = TOWNS[:2]
    table = CodedTable.from_data(
        Relation.of({"town": [other] * 12 + [town] * 88 + TOWNS * 20, "area": [town] * 100 + TOWNS * 20})
    )
    assert sum(PlannedChanges(table, "town", np.arange(12), [town] * 12).may_be_right({"town"})) == 1
