"""A provider with a schedule of rates: what it quotes and charges, what its ledger keeps, and what an audit finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from lanes import examples
from oracles.sealed_cases import CASES, Case, opened

import pacas
from pacas.core.rates.schedule import Schedule
from pacas.errors import LedgerChangedError
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request
from pacas.protocol.order_of_checks import at_rates
from pacas.provider.audit import audit
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.quote_mode import sealed_keys

HIGH = 10**15
RATES: list[list[float]] = [[0, 100], [100, 80.01], [300, 59.99]]


@examples(120)
@given(CASES)
def test_charges_follow_the_schedule_and_a_quote_is_never_exceeded(case: Case) -> None:
    """Against the same provider without a schedule, whose prices are the list's; for both kinds of quotes."""
    public, private, _ = case
    schedule = Schedule.of(RATES)
    ways: list[dict[str, Any]] = [{"sealing": public.sealing}]
    if not public.listed and not sealed_keys(public.policies):
        ways.append({"quotes": "paper", "seed": 7})
    for how in ways:
        ledger, keys = MemoryLedger(), sorted({row[0] for row in public.rows})
        with_rates = opened(public, private, schedule=RATES, ledger=ledger, **how)
        by_list = opened(public, private, **how)
        listed = {"u": 0, "v": 0}
        for number, one in enumerate(public.operations):
            level = min(one.level, public.hierarchies[one.attribute].height)
            request = Request({"K": one.key}, one.attribute, level)
            quoted, list_price = (p.quote(request, buyer=one.buyer) for p in (with_rates, by_list))
            ladders = [p.quote_batch(one.attribute, {"K": keys}, buyer=one.buyer).prices for p in (with_rates, by_list)]
            assert (ladders[0] == at_rates(schedule, listed[one.buyer], ladders[1])).all()
            if isinstance(list_price, Refusal):
                assert quoted == list_price
                continue
            assert quoted == Quote(schedule.quote(listed[one.buyer], list_price.price))
            if one.pays:
                sold = with_rates.pay(request, quoted.price, str(number), buyer=one.buyer)
                by_list.pay(request, HIGH, str(number), buyer=one.buyer)
                assert isinstance(sold, Answer)
                assert sold.price == schedule.charge(listed[one.buyer], list_price.price) <= quoted.price
                listed[one.buyer] += list_price.price
        again = opened(public, private, schedule=RATES, ledger=ledger, **how)
        for buyer, credits in listed.items():
            assert with_rates.till.tab(buyer).listed == again.till.tab(buyer).listed == credits
            assert ledger.total(buyer).spent == schedule.paid(credits)
        found = audit(again)
        assert found.holds and all((b.listed, b.due) == (listed[n], b.spent) for n, b in found.buyers.items())


def shop(**how: Any) -> pacas.Provider:
    rows = {"K": [f"k{n}" for n in range(10)], "M": ["a", "b"] * 5}
    tree = pacas.Hierarchy.flat(["a", "b", "c"])
    return pacas.Provider(rows, match={"M": "K = K"}, hierarchies={"M": tree}, total=100, **how)


def buy(provider: pacas.Provider, number: int, ceiling: int = HIGH, **how: Any) -> Answer | Refusal:
    return provider.pay(Request({"K": f"k{number}"}, "M", 0), ceiling, str(number), **how)


def test_who_buys_more_pays_less_for_what_comes_on_top() -> None:
    provider = shop(schedule=[[0, 100], [15, 50]])
    assert [buy(provider, n).price for n in range(3)] == [10 * 10**9, 75 * 10**8, 5 * 10**9]  # type: ignore[union-attr]
    assert provider.till.tab("local").listed == 30 * 10**9
    assert provider.quote(Request({"K": "k3"}, "M", 0), buyer="another") == Quote(10 * 10**9)


def test_ceiling_and_credit_are_about_what_is_charged() -> None:
    provider = shop(schedule=[[0, 50]])
    assert buy(provider, 0, ceiling=5 * 10**9 - 1) == Refusal(Reason.CEILING)
    assert buy(provider, 0, credit=5 * 10**9 - 1) == Refusal(Reason.CREDIT)
    assert isinstance(buy(provider, 0, ceiling=5 * 10**9, credit=5 * 10**9), Answer)


def test_another_schedule_is_not_for_a_ledger_that_has_sales() -> None:
    ledger = MemoryLedger()
    buy(shop(schedule=RATES, ledger=ledger), 0)
    with pytest.raises(LedgerChangedError, match="schedule"):
        shop(ledger=ledger)
    assert shop(schedule=RATES, ledger=ledger).till.tab("local").listed == 10 * 10**9


def test_a_list_price_that_is_not_what_was_due_is_found() -> None:
    ledger = MemoryLedger()
    provider = shop(schedule=[[0, 50]], ledger=ledger)
    buy(provider, 0)
    wrong = ledger.find("local", "0")
    assert wrong is not None and audit(provider).holds
    ledger.append(replace(wrong.purchase, idempotency_key="1", listed=2, price=1))
    assert not audit(provider).holds
