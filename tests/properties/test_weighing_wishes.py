"""What a client that weighs would ask next is what is worth most a credit, question by question."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lanes import examples
from oracles.cleaning import Dependency
from oracles.weighed_cases import CLOSE, NEAR, Case, DrawnQuotes, Rows, cases, near, with_rates, with_strays
from oracles.weighing_rows import Choices, Question, Table, Worth

from pacas.client.buying.offers import Offered
from pacas.client.buying.purchaser import Purchaser
from pacas.client.outcome.steps import Observer
from pacas.client.weighed_groups.few_rows import FewRows
from pacas.client.weighing import decision, wishes
from pacas.client.weighing.rare_values import RareCells
from pacas.client.weighing.worth import RowWorth, worth_of_left_values, worth_of_rows, worth_of_settling
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Ladders, Offer

SHAPES = [
    [Dependency(("A", "B"), "C")],
    [Dependency(("A",), "C")],
    [Dependency(("A",), "C"), Dependency(("B",), "C")],
    [Dependency(("A",), "C"), Dependency(("C",), "D")],
    [Dependency(("A",), "C"), Dependency(("C",), "A")],
]
LEAST = 0.01
"""Tiny tables have little to lose."""
CAREFUL = st.sampled_from([0.5, 0.7, 0.9])


def weighed(data: st.DataObject, case: Case, careful: float) -> tuple[Table, Choices, Mapping[str, decision.Weighed]]:
    case.tell(data.draw, left=True)
    assume(case.model.beliefs)
    if data.draw(st.booleans()):
        with_rates(data.draw, case)
    with_strays(data.draw, case)
    decided = decision.decide(case.model, careful)
    table = case.table(careful, decided)
    return table, table.decisions({}), decided


def assert_worth(found: RowWorth, literal: dict[int, Worth | None]) -> None:
    assert found.rows.tolist() == sorted(row for row, worth in literal.items() if worth is not None)
    for row, worth, level in zip(found.rows.tolist(), found.worth.tolist(), found.level.tolist(), strict=True):
        one = literal[row]
        assert one is not None and level == one.level
        assert one.nearest <= CLOSE or near(worth, one.worth)


@examples(160)
@given(cases(SHAPES), CAREFUL, st.data())
def test_an_answer_about_a_row_is_worth_what_is_decided_wrongly_without_it(
    case: Case, careful: float, data: st.DataObject
) -> None:
    table, _, _ = weighed(data, case, careful)
    for belief, of in zip(case.model.beliefs, table.weighed, strict=True):
        found = worth_of_rows(case.model, belief, careful)
        assert_worth(found, {row: table.worth_of_row(of, row) for row in table.suspects})
    for name in case.model.left_attributes:
        found = worth_of_left_values(case.model, name, careful)
        assert_worth(found, {row: table.worth_of_left_value(row, name) for row in table.suspects})


@examples(160)
@given(cases(SHAPES), CAREFUL, st.data())
def test_an_answer_about_a_group_is_worth_what_it_lets_be_written_in_its_rows(
    case: Case, careful: float, data: st.DataObject
) -> None:
    table, choices, decided = weighed(data, case, careful)
    withheld = {name: cells.withheld(careful) for name, cells in decided.items()}
    for belief, of in zip(case.model.beliefs, table.weighed, strict=True):
        found = worth_of_settling(case.model, belief, withheld, careful)
        for key, posterior in of.posteriors.items():
            group = int(belief.side.group[posterior.rows[0]])
            for level in range(belief.column.height + 1):
                worth, nearest = table.worth_of_settling(of, choices, key, level)
                assert nearest <= CLOSE or near(found[group, level], worth)


@st.composite
def sold(draw: st.DrawFn) -> Case:
    """Right and left sides, found by the left side, by a part of it, or by others; somebody has named some cells."""
    case = draw(cases(SHAPES))
    found = draw(
        st.fixed_dictionaries(
            {}, optional={a: st.sets(st.sampled_from("ABCD".replace(a, "")), min_size=1) for a in "ABCD"}
        )
    )
    case.match_columns = {a: tuple(sorted(by)) for a, by in found.items()}
    rows = st.lists(st.integers(0, len(case.rows) - 1), max_size=2, unique=True).map(sorted)
    case.cells = draw(st.fixed_dictionaries({}, optional={"A": rows, "C": rows}))
    case.__post_init__()
    return case


def drawn_slips(draw: Any, case: Case) -> dict[str, RareCells]:
    """Some cells may be slips for some known values."""
    found = {}
    for name in ("A", "C"):
        column = case.model.columns.get(name)
        known = [] if column is None else np.flatnonzero(column.known).tolist()
        rows = sorted(draw(st.sets(st.integers(0, len(case.rows) - 1), max_size=3))) if known else []
        meant = [draw(st.sampled_from(known)) for _ in rows]
        chance = [draw(st.sampled_from([0.1, 0.35, 0.65, 0.95])) for _ in rows]
        if rows:
            found[name] = RareCells(np.array(rows), np.array(meant), np.array(chance))
    return found


class ByTown:
    """A market in which the rows of one town are dearer than those of others."""

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.array([[12 if town == "dear" else 10, 0] for town in tuples["D"]]))


def test_where_the_best_row_of_a_group_cannot_be_paid_another_one_is_asked() -> None:
    """It costs less, but may be from elsewhere."""
    dear: Rows = [{"A": "p", "C": c, "D": "dear"} for c in "yyy"]
    rows: Rows = [{"A": "p", "C": "x", "D": "cheap"}, *dear]
    case = Case(rows, {}, [Dependency(("A",), "C")], {"C": ("A", "D")})
    model, market = case.model, ByTown()
    model.misplaced.if_unlike = FewRows(np.arange(4), np.array([0.5, 0.05, 0.05, 0.05]), 0.0)
    offers = {"C": Offered(Offer("C", ("A", "D"), model.columns["C"].tree), [0])}
    texts = {a: [row[a] for row in rows] for a in "ACD"}

    def best(money: int) -> tuple[int, int] | None:
        buyer = Purchaser(market, offers, money, "run", Observer())  # type: ignore[arg-type]
        decided = decision.decide(model, 1.0)
        wish = wishes.Wishes(model, buyer, texts, 1.0, set(), {}, {}, decided).best(money)
        return None if wish is None else (wish.row, wish.price)

    assert (best(9), best(11), best(12)) == (None, (0, 10), (3, 12))


@examples(240)
@given(sold(), CAREFUL, st.integers(0, 99), st.integers(0, 60), st.data())
def test_what_is_worth_most_a_credit_is_asked_first(
    case: Case, careful: float, seed: int, money: int, data: st.DataObject
) -> None:
    table, choices, decided = weighed(data, case, careful)
    slips = drawn_slips(data.draw, case)
    market: Any = DrawnQuotes(seed, {a: column.height for a, column in case.model.columns.items()})
    offers = {
        a: Offered(Offer(a, by, case.model.columns[a].tree), list(range(case.model.columns[a].height)))
        for a, by in case.match_columns.items()
        if a in case.model.columns
    }
    texts = {a: [row[a] for row in case.rows] for a in case.rows[0]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wishes, "LEAST", LEAST)
        buyer = Purchaser(market, offers, money, "run", Observer())
        list_ = wishes.Wishes(case.model, buyer, texts, careful, set(), {}, slips, decided)
        found = [wish for _ in range(999) if (wish := list_.best(money)) is not None]
    label = {name: column.tree.label for name, column in case.model.columns.items()}
    meant = {
        name: {
            row: (label[name](code), Fraction(chance))
            for row, code, chance in zip(*(part.tolist() for part in (c.rows, c.meant, c.chance)), strict=True)
        }
        for name, c in slips.items()
    }
    asked = table.questions({a: offered.offer.columns for a, offered in offers.items()}, choices, meant, case.cells)
    ranks = [rank for question in asked if (rank := _ranks(case, question, market, money))]
    assert [wish.rank for wish in found] == pytest.approx(sorted(min(rank.values()) for rank in ranks), rel=NEAR)
    for wish in found:
        place = wish.attribute, wish.row, wish.level
        assert any(place in rank and wish.rank <= min(rank.values()) * (1 + 3 * NEAR) for rank in ranks)


def _ranks(case: Case, question: Question, market: DrawnQuotes, money: int) -> dict[tuple[str, int, int], float]:
    """What a question costs a bit, by row and level: all that can be paid, and removes enough."""
    assume(question.nearest > CLOSE)
    name, found = question.attribute, {}
    for row, worths in question.worth.items():
        ladder = market.ladder(name, *(case.rows[row][a] for a in case.match_columns[name]))
        for level, worth in enumerate(worths[:-1]):
            assume(abs(worth - Fraction(LEAST)) > CLOSE)
            if worth > Fraction(LEAST) and question.known <= ladder[level] <= money:
                found[name, row, level] = max(ladder[level], 1) / float(worth)
    return found
