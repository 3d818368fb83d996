"""A plan on the terms of private offers, and plans made anew on them."""

from __future__ import annotations

import numpy as np
import pytest
from panel_shops import JobShop, departments

from pacas.client.outcome.offered_terms import (
    MOST_PLANS,
    Planned,
    QuotedOnTerms,
    StandingOffers,
    compare_plan,
)
from pacas.core.rates.schedule import Schedule
from pacas.protocol.messages import OfferedTerms

NOW = Schedule.parse("0:80")
PLAN = Planned(frozenset([("a", "JOB", 1, 0), ("a", "JOB", 2, 0), ("b", "JOB", 3, 0)]), [80, 80], 50, 4)


def offer(name: str, schedule: str, prepaid: int = 0) -> OfferedTerms:
    return OfferedTerms(name, "made", True, Schedule.parse(schedule), prepaid, 90, 2_000_000_000)


def test_at_lower_prices_more_is_bought_of_who_offers_and_less_elsewhere() -> None:
    more = Planned(frozenset([("a", "JOB", row, 0) for row in range(5)]), [40] * 5, 0, 1)
    compared = compare_plan(PLAN, StandingOffers(NOW, 0, [offer("half", "0:40")]), 1000, lambda _: more)
    assert (compared.cost, compared.list_price) == (160, 200)
    (one,) = compared.on_terms
    assert (one.cost, one.bill, one.saves, one.pays) == (80, 80, 80, True)
    assert one.anew is not None and tuple(one.anew) == (5, 500, 200, 1)


@pytest.mark.parametrize(("prepaid", "pays"), [(210, True), (211, False)])
def test_who_pays_ahead_gains_if_more_is_bought_for_no_more(prepaid: int, pays: bool) -> None:
    """The same plan would cost 160 at who offers, and 50 elsewhere."""
    more = Planned(frozenset([("a", "JOB", row, 0) for row in range(5)]), [40] * 5, 0, 1)
    standing = StandingOffers(NOW, 0, [offer("ahead", "0:40", prepaid)])
    (one,) = compare_plan(PLAN, standing, 1000, lambda _: more).on_terms
    assert one.saves == 160 - prepaid < 0 and one.pays == pays


def test_plans_are_made_anew_of_the_lowest_bills_within_the_budget_and_few() -> None:
    asked: list[str] = []

    def same(of: OfferedTerms) -> Planned:
        asked.append(of.id)
        return PLAN

    offers = [offer("dear", "0:10", 1001), *(offer(f"o{n}", f"0:{40 + n}") for n in range(6))]
    compared = compare_plan(PLAN, StandingOffers(NOW, 0, offers), 1000, same)
    assert asked == [f"o{n}" for n in range(MOST_PLANS)]
    assert all(one.anew is None for one in compared.on_terms) and compared.on_terms[-1].offer.id == "dear"


def test_an_offers_quotes_are_those_of_its_schedule_and_refusals_stay() -> None:
    truth, _ = departments(3)
    shop = JobShop(truth, covers=1.0, price=80)
    on_terms = QuotedOnTerms(shop, StandingOffers(NOW, 0), offer("half", "0:40"))
    found = on_terms.quote_batch("JOB", {"DEPT": ["d0001", "nobody"]}).prices
    refused = shop.quote_batch("JOB", {"DEPT": ["nobody"]}).prices[0]
    assert found[0].tolist() == [40, 20, 0] and np.array_equal(found[1], refused)
