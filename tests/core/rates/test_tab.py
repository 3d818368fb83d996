"""An account's tab: periods on other rates, what is paid for them, and that nobody gains by several accounts."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from pacas.core.rates.schedule import LIST, WHOLE, Schedule, Step
from pacas.core.rates.tab import AgreedTerms, Tab


def _rates(chance: Random, scale: int) -> Schedule:
    rates = sorted((chance.randint(1, WHOLE) for _ in range(chance.randint(1, 4))), reverse=True)
    above = sorted(chance.sample(range(1, scale * 2), len(rates) - 1))
    return Schedule(tuple(Step(*step) for step in zip([0, *above], rates, strict=True)))


class Account:
    """An account that accepts what is offered when it next buys, and pays what it is charged."""

    def __init__(self) -> None:
        self.tab, self.paid = Tab(), 0

    def buy(self, price: int, offered: AgreedTerms | None, standing: Schedule, time: int) -> None:
        if offered is not None and not offered.have_ended(time) and self.tab.agreed != offered:
            self.tab = self.tab.agree(offered, time)
        now = self.tab.at(time)
        charge = now.charge(standing, price)
        assert 0 <= charge <= now.schedule(standing).quote(now.listed, price) <= price
        self.tab, self.paid = self.tab.bought(price, time), self.paid + charge

    def bill(self, standing: Schedule) -> int:
        assert self.paid == self.tab.due(standing)
        return self.tab.bill(standing)


def _gains(histories: int) -> int:
    """In how many random histories, with the same terms on offer to all, several accounts pay less than one."""
    chance, gains = Random(21), 0
    for _ in range(histories):
        scale = chance.choice([5, 40, 10**4, 10**10])
        standing = _rates(chance, scale) if chance.random() < 0.7 else LIST
        alone, several = Account(), [Account() for _ in range(chance.randint(2, 4))]
        offered: AgreedTerms | None = None
        for time in range(chance.randint(1, 18)):
            if chance.random() < 0.25:
                prepaid = chance.choice([0, 0, chance.randint(1, scale * 3)])
                last = 0 if offered is None or offered.until is None else offered.until
                until = max(last, time + chance.randint(1, 8))  # so that all have the same rates at all times
                offered = AgreedTerms(_rates(chance, scale), prepaid, until)
                continue
            price = chance.randint(0, scale)
            alone.buy(price, offered, standing, time)
            chance.choice(several).buy(price, offered, standing, time)
        gains += sum(one.bill(standing) for one in several) < alone.bill(standing)
    return gains


def test_several_accounts_never_pay_less_than_one_whatever_terms_they_accept() -> None:
    assert _gains(1_000) == 0


@pytest.mark.slow
def test_several_accounts_never_pay_less_than_one_in_10_000_histories_with_terms() -> None:
    assert _gains(10_000) == 0


def test_all_that_is_paid_in_a_period_is_independent_of_the_path() -> None:
    """The same purchases on the same terms cost the same together, in whatever order, or as one."""
    chance = Random(22)
    for _ in range(300):
        standing, terms = _rates(chance, 40), AgreedTerms(_rates(chance, 40), chance.randint(0, 50), 10)
        prices = [[chance.randint(0, 40) for _ in range(chance.randint(0, 6))] for _ in range(3)]
        found = set()
        for ordered in (prices, [sorted(some) for some in prices], [[sum(some)] for some in prices]):
            account = Account()
            for some, offered, time in zip(ordered, (None, terms, terms), (0, 5, 10), strict=True):
                if offered is not None and time == 5:
                    account.tab = account.tab.agree(offered, time)
                for price in some:
                    account.buy(price, account.tab.agreed, standing, time)
            found.add((account.paid, account.tab.at(10).bill(standing), account.tab.listed))
        assert len(found) == 1


def _literal(schedule: Schedule, start: int, end: int) -> Fraction:
    """Each list nanocredit at the rate that applies to it."""
    rates = [next(step.rate for step in reversed(schedule.steps) if step.above <= w) for w in range(start, end)]
    return sum((Fraction(rate, WHOLE) for rate in rates), Fraction(0))


def test_a_bill_is_what_each_period_costs_or_what_is_prepaid_rounded_up_once() -> None:
    chance = Random(23)
    for _ in range(200):
        standing, own = _rates(chance, 20), _rates(chance, 20)
        first, second, third = (chance.randint(0, 20) for _ in range(3))
        terms = AgreedTerms(own, chance.randint(0, 25), 7)
        tab = Tab().bought(first, 1).agree(terms, 2).bought(second, 6).bought(third, 7)
        inside = _literal(own, first, first + second)
        least = max(inside, Fraction(terms.prepaid))
        outside = _literal(standing, 0, first) + _literal(standing, first + second, first + second + third)
        assert tab.due(standing) == -(-(outside + inside) // 1)
        assert tab.bill(standing) == -(-(outside + least) // 1)
        assert tab.agreed is None and tab.unused(standing) == 0 and tab.listed == first + second + third


def test_rounding_each_period_by_itself_would_let_two_accounts_gain() -> None:
    """Why all periods are rounded together: an account that leaves terms out has one period where another has two."""
    half = Schedule((Step(0, WHOLE // 2),))
    alone, out, within = Account(), Account(), Account()
    for price, offered, time, other in ((1, None, 0, out), (2, AgreedTerms(half, 0, 2), 1, within), (1, None, 2, out)):
        alone.buy(price, offered, half, time)
        other.buy(price, offered, half, time)
    assert (alone.paid, out.paid + within.paid) == (2, 2)
