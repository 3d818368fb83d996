"""What answers about rows of two camps say of a dependency."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.source_trust import GroupAnswer
from pacas.client.weighing.model import Model
from pacas.core.dependency import FunctionalDependency
from pacas.engine.codes import coded_texts


def two_camps(groups: int = 20) -> Belief:
    """Of twenty groups so many have twelve cells of one value and eight of another; and one cell is a stray."""
    a = [f"m{n}" for n in range(20) for _ in range(20)]
    b = [f"{'q' if at % 20 >= 12 and at < 20 * groups else 'p'}-{value}" for at, value in enumerate(a)]
    b[0] = "stray"
    columns = {name: coded_texts(pa.chunked_array([pa.array(values)])) for name, values in {"A": a, "B": b}.items()}
    (belief,) = Model(FunctionalDependency.parse_all(["A -> B"]), columns, {}, {"B": ("K",)}).beliefs
    return belief


def tell(belief: Belief, row: int, told: str) -> int:
    """Say what a row should hold; the group it is in."""
    group, shown = int(belief.side.group[row]), int(belief.column.codes[row])
    belief.tell(group, GroupAnswer(belief.column.tree.code(told), shown, 0.05, None, False))
    return group


def test_the_smaller_camp_is_asked_first_and_the_other_one_only_if_that_is_right() -> None:
    belief = two_camps()
    camps, code = belief.answered_camps, belief.column.tree.code
    group = int(belief.side.group[0])
    assert camps.are_open and camps.of(group) == [code("q-m0"), code("p-m0")]
    assert camps.next_to_ask(group) == code("q-m0") and not camps.is_undecided(group)
    tell(belief, 15, "q-m0")
    assert camps.next_to_ask(group) == code("p-m0") and camps.is_undecided(group)
    assert camps.mixed == 0, "which of the two is wrong is not known, nor whether one is"
    tell(belief, 5, "p-m0")
    assert camps.next_to_ask(group) is None and camps.has_two_truths(group)
    assert camps.mixed == pytest.approx(10 / 19) and camps.is_overtaken(belief.rates.mixed)
    other = tell(belief, 35, "p-m1")
    assert camps.next_to_ask(other) is None and not camps.is_undecided(other), "it is settled"
    assert camps.mixed == pytest.approx(0.1), "one of each"


def test_a_stray_that_is_right_says_nothing_of_the_camps() -> None:
    belief = two_camps()
    group = tell(belief, 0, "stray")
    assert belief.answered_camps.told(group) == (set(), set()) and belief.answered_camps.mixed == 0


def test_where_two_groups_had_a_camp_that_is_wrong_the_dependency_holds() -> None:
    belief = two_camps()
    tell(belief, 15, "p-m0")
    assert belief.answered_camps.are_open
    tell(belief, 35, "p-m1")
    assert not belief.answered_camps.are_open and belief.answered_camps.next_to_ask(2) is None


def test_few_groups_of_two_camps_are_no_reason_to_doubt_the_dependency() -> None:
    belief = two_camps(6)
    assert not belief.answered_camps.are_open and belief.answered_camps.next_to_ask(0) is None
