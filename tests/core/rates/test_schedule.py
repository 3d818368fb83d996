"""A schedule of rates: what it may say, and that nobody gains by the order of purchases or by several accounts."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.rates.schedule import LIST, WHOLE, Schedule, Step
from pacas.errors import InputError
from pacas.protocol.order_of_checks import at_rates


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    steps = draw(st.integers(1, 5))
    above = sorted(draw(st.sets(st.integers(1, 10**10) | st.integers(1, 30), min_size=steps - 1, max_size=steps - 1)))
    rates = sorted(draw(st.lists(st.integers(1, WHOLE), min_size=steps, max_size=steps)), reverse=True)
    return Schedule(tuple(Step(*step) for step in zip([0, *above], rates, strict=True)))


PRICES = st.lists(st.integers(0, 10**9) | st.integers(0, 20), max_size=12)


def literal(schedule: Schedule, listed: int) -> Fraction:
    """f(W): each list nanocredit at the rate that applies to it."""
    ends = [*(step.above for step in schedule.steps[1:]), max(listed, schedule.steps[-1].above)]
    parts = zip(schedule.steps, ends, strict=True)
    return sum((Fraction(s.rate, WHOLE) * max(0, min(end, listed) - s.above) for s, end in parts), Fraction(0))


@examples(300)
@given(schedules(), PRICES, st.randoms(use_true_random=False))
def test_all_that_is_paid_is_f_of_all_that_was_bought_in_any_order(
    schedule: Schedule, prices: list[int], chance: Random
) -> None:
    for order in (prices, chance.sample(prices, len(prices)), [sum(prices)]):
        listed = paid = 0
        for price in order:
            charge, quote = schedule.charge(listed, price), schedule.quote(listed, price)
            exact = literal(schedule, listed + price) - literal(schedule, listed)
            assert 0 <= charge <= quote <= price and quote - exact < 1 and abs(charge - exact) < 1
            listed, paid = listed + price, paid + charge
        assert paid == schedule.paid(sum(prices)) and 0 <= paid - literal(schedule, sum(prices)) < 1


@examples(300)
@given(schedules(), st.integers(0, 10**10), st.integers(0, 10**10), st.integers(0, 10**9))
def test_what_is_bought_before_never_raises_a_quote(schedule: Schedule, listed: int, more: int, price: int) -> None:
    later = schedule.quote(listed + more, price)
    assert schedule.charge(listed + more, price) <= later <= schedule.quote(listed, price)
    ladders = np.array([[price, -3], [0, more % 7]])
    told = at_rates(schedule, listed, ladders).tolist()
    assert told == [[schedule.quote(listed, price), -3], [0, schedule.quote(listed, more % 7)]]


def _gains(histories: int) -> int:
    """In how many random histories somebody pays less by spreading purchases over accounts."""
    chance, gains = Random(20), 0
    for _ in range(histories):
        rates = sorted((chance.randint(1, WHOLE) for _ in range(chance.randint(1, 5))), reverse=True)
        scale = chance.choice([5, 40, 10**4, 10**10])
        above = sorted(chance.sample(range(1, scale * 2), len(rates) - 1))
        schedule = Schedule(tuple(Step(*step) for step in zip([0, *above], rates, strict=True)))
        accounts = [0] * chance.randint(2, 4)
        together = alone = split = 0
        for _ in range(chance.randint(1, 15)):
            price, account = chance.randint(0, scale), chance.randrange(len(accounts))
            alone += schedule.charge(together, price)
            split += schedule.charge(accounts[account], price)
            together, accounts[account] = together + price, accounts[account] + price
        gains += split < alone
    return gains


def test_several_accounts_never_pay_less_than_one() -> None:
    assert _gains(1_000) == 0


@pytest.mark.slow
def test_several_accounts_never_pay_less_than_one_in_10_000_histories() -> None:
    assert _gains(10_000) == 0


def test_rounding_down_would_let_two_accounts_gain() -> None:
    """Why what is paid is rounded up: two list nanocredits at half the price, in one account or in two."""
    half = Schedule((Step(0, WHOLE // 2),))
    assert (half.paid(1) + half.paid(1), half.paid(2)) == (2, 1)
    assert literal(half, 1) // 1 + literal(half, 1) // 1 == 0 < literal(half, 2)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "begins at 0 list credits"),
        ([[1, 100]], "begins at 0 list credits"),
        ([[0, 100], [5, 80], [5, 60]], "must rise"),
        ([[0, 80], [5, 100]], "rates may not rise: above 5 list credits it is 100 % after 80 %"),
        ([[0, 101]], "at most 100 per cent"),
        ([[0, 0]], "above 0"),
        ([[0, 99.999]], "at most two decimals"),
        ([[0, "cheap"]], "a number of per cent"),
        ([[0]], "list credits and per cent"),
    ],
)
def test_a_schedule_that_is_none_is_refused(pairs: list[list[float]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Schedule.of(pairs)


@examples(50)
@given(schedules())
def test_a_schedule_is_written_and_read(schedule: Schedule) -> None:
    assert Schedule.parse(str(schedule)) == Schedule.of_pairs(schedule.pairs()) == schedule
    assert LIST.is_flat and schedule.is_flat == (schedule.steps[-1].rate == WHOLE)
