"""Terms that a buyer has accepted: what it is quoted and charged, how they end, and what an audit finds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import pacas
from pacas.core.rates.schedule import LIST, Schedule
from pacas.core.rates.tab import Tab
from pacas.errors import InputError
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request
from pacas.provider.audit import audit
from pacas.provider.ledger.entry import Entry
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.till import DAY

CREDIT = 10**9
HALF = Schedule.parse("0:50")


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def shop(ledger: Ledger, **how: Any) -> pacas.Provider:
    """Forty people; each value costs ten credits by the list."""
    rows = {"K": [f"k{n}" for n in range(40)], "M": ["a", "b"] * 20}
    tree = pacas.Hierarchy.flat(["a", "b", "c"])
    return pacas.Provider(rows, match={"M": "K = K"}, hierarchies={"M": tree}, total=400, ledger=ledger, **how)


def of(number: int) -> Request:
    return Request({"K": f"k{number}"}, "M", 0)


def price(provider: pacas.Provider, number: int, **how: Any) -> int:
    sold = provider.pay(of(number), 10**15, str(number), buyer="ann", **how)
    assert isinstance(sold, Answer)
    return sold.price


def agree(provider: pacas.Provider, prepaid: int = 0, schedule: Schedule = HALF, **how: Any) -> Entry:
    found = provider.till.agree(how.pop("key", "offer/1"), schedule, prepaid, 10, buyer="ann", **how)
    assert isinstance(found, Entry)
    return found


@pytest.mark.parametrize("quotes", ["sealed", "paper"])
def test_terms_count_from_their_entry_to_their_end(clock: Clock, quotes: str) -> None:
    ledger = MemoryLedger(clock)
    provider = shop(ledger, quotes=quotes, schedule=[[0, 100], [15, 80]])
    assert price(provider, 0) == 10 * CREDIT
    agree(provider, schedule=Schedule.parse("0:60,15:40"))
    assert provider.quote(of(1), buyer="ann") == Quote(5 * CREDIT), "five at 60, and five at 40 per cent: W is 10"
    assert provider.quote_batch("M", {"K": ["k1"]}, buyer="ann").prices[0, 0] == 5 * CREDIT
    assert provider.quote(of(1), buyer="bob") == Quote(10 * CREDIT)
    assert price(provider, 1) == 5 * CREDIT
    clock.now += 10 * DAY - 1
    assert price(provider, 2) == 4 * CREDIT
    clock.now += 1
    assert provider.quote(of(3), buyer="ann") == Quote(8 * CREDIT), "everybody's rates again, and W goes on"
    assert price(provider, 3) == 8 * CREDIT
    clock.now -= 5 * DAY
    assert price(provider, 4) == 8 * CREDIT, "what has ended once stays so, whatever a clock says"
    for one in (provider, shop(ledger, quotes=quotes, schedule=[[0, 100], [15, 80]])):
        assert one.till.tab("ann").listed == 50 * CREDIT and audit(one).holds
        assert audit(one).buyers["ann"].due == 35 * CREDIT == ledger.total("ann").spent


def test_terms_of_another_process_are_taken_in(clock: Clock) -> None:
    ledger = MemoryLedger(clock)
    provider, other = shop(ledger), shop(ledger)
    agree(other)
    assert price(provider, 0) == 5 * CREDIT
    assert other.quote(of(1), buyer="ann") == Quote(5 * CREDIT)
    other.refresh()
    assert other.till.tab("ann").listed == 10 * CREDIT and price(other, 1) == 5 * CREDIT


def test_the_same_offer_is_accepted_once(clock: Clock) -> None:
    provider = shop(MemoryLedger(clock))
    first = agree(provider)
    clock.now += 3 * DAY
    assert agree(provider) == first and provider.ledger.head().entries == 2


def test_what_is_prepaid_is_the_least_that_is_paid_and_is_within_the_credit(clock: Clock) -> None:
    provider = shop(MemoryLedger(clock))
    credit = 20 * CREDIT
    assert provider.till.agree("o", HALF, credit + 1, 10, buyer="ann", credit=credit) == Refusal(Reason.CREDIT)
    agree(provider, prepaid=12 * CREDIT, credit=credit)
    assert (provider.till.tab("ann").bill(LIST), provider.till.tab("ann").unused(LIST)) == (12 * CREDIT, 12 * CREDIT)
    with pytest.raises(InputError, match="not used"):
        agree(provider, key="offer/2")
    assert [price(provider, n, credit=credit) for n in range(4)] == [5 * CREDIT] * 4
    assert provider.till.tab("ann").bill(LIST) == 20 * CREDIT and not provider.till.tab("ann").unused(LIST)
    assert provider.pay(of(4), 10**15, "4", buyer="ann", credit=credit) == Refusal(Reason.CREDIT)
    agree(provider, key="offer/2")


def test_what_is_prepaid_and_not_used_is_paid_all_the_same(clock: Clock) -> None:
    provider = shop(MemoryLedger(clock))
    agree(provider, prepaid=12 * CREDIT, credit=20 * CREDIT)
    assert price(provider, 0, credit=20 * CREDIT) == 5 * CREDIT
    clock.now += 10 * DAY
    assert provider.pay(of(1), 10**15, "1", buyer="ann", credit=20 * CREDIT) == Refusal(Reason.CREDIT)
    assert price(provider, 1, credit=22 * CREDIT) == 10 * CREDIT
    assert provider.till.tab("ann").bill(LIST) == 22 * CREDIT and audit(provider).holds


def test_who_has_only_accepted_is_in_an_audit_too(clock: Clock) -> None:
    provider = shop(MemoryLedger(clock))
    agree(provider, prepaid=CREDIT)
    found = audit(provider)
    assert found.holds and found.buyers["ann"].tab.agreed is not None and found.buyers["ann"].purchases == 0


def test_several_accounts_at_a_provider_never_pay_less_than_one(clock: Clock) -> None:
    """The provider itself, with sales and terms at random: what one account pays for all, and what three do."""
    chance = Random(24)
    for _ in range(12):
        standing = chance.choice([None, [[0, 99.99], [7.123456789, 66.67], [30, 33.33]]])
        alone, split = (shop(MemoryLedger(clock), schedule=standing) for _ in range(2))
        offered = 0
        for number in range(12):
            if chance.random() < 0.25 and not offered:
                offered = 1
                rates = Schedule.of([[0, chance.randint(20, 90) + 0.37], [chance.randint(5, 40), 19.99]])
                for provider, buyers in ((alone, ["u"]), (split, ["u", "v", "w"])):
                    for buyer in buyers:
                        provider.till.agree("offer/1", rates, 0, 10, buyer=buyer)
            for provider, buyer in ((alone, "u"), (split, chance.choice("uvw"))):
                assert isinstance(provider.pay(of(number), 10**15, str(number), buyer=buyer), Answer)
            clock.now += chance.choice([0, DAY, 4 * DAY])
        paid = [sum(total.spent for total in provider.ledger.totals().values()) for provider in (alone, split)]
        assert paid[0] <= paid[1] and audit(alone).holds and audit(split).holds


def test_a_tab_that_nothing_was_put_on_is_everybodys() -> None:
    assert Tab().charge(LIST, 7) == 7 and Tab().bill(LIST) == 0
