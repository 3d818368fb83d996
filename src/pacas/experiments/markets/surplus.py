"""What schedules and private offers bring over the best posted rate: revenue, and what buyers keep.

Simulated: a buyer wishes for some values, each of which is worth to it a share of the list price. Accounts differ in
how much they wish for and what it is worth to them. A buyer that sees a schedule f takes those of its wishes, the best
first, that leave it most: what they are worth, less f(W).

A provider knows what accounts did in one quarter, and is judged on the next, in which they have other wishes. It posts
the one rate that brings most; or one schedule for all, that which brings most among those that leave buyers no less
than the posted rate; or it comes to terms with each account by itself: those that make most of what both gain over the
posted rate, multiplied (Nash's bargain), and the posted rate where there are none. Buyers do not pretend.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KINDS = ((6.0, 0.55), (25.0, 0.75), (90.0, 0.95))
"""Small, middling and large accounts: their wishes in list credits, and what these are worth, as a share of that."""
ACCOUNTS = 40
"""Of each kind."""
WISHES = 60
APART, SIZES, WORTHS = 0.4, 0.6, 0.35
"""How far the wishes of an account, and accounts of one kind in size and worth, differ: deviations of logarithms."""
RATES = tuple(np.round(np.arange(0.2, 1.001, 0.05), 2))
THRESHOLDS = (3.0, 8.0, 20.0, 50.0)


class TwoSteps(NamedTuple):
    """A schedule of two steps: up to a threshold in list credits, and above; a flat one has the same rate twice."""

    first: float
    above: float
    second: float

    def cost(self, listed: Floats) -> Floats:
        """f(W)."""
        return np.asarray(
            self.first * np.minimum(listed, self.above) + self.second * np.maximum(listed - self.above, 0)
        )


class Buyer(NamedTuple):
    """Its wishes, the best first: together so many list credits, worth so much."""

    listed: Floats
    worth: Floats

    def taken(self, rates: TwoSteps) -> tuple[float, float]:
        """What it pays, and what that leaves it."""
        left = self.worth - rates.cost(self.listed)
        best = int(left.argmax())
        return float(rates.cost(self.listed[best : best + 1])[0]), float(left[best])


class MarketOutcome(NamedTuple):
    """Revenue and buyers' surplus of all buyers, in list credits."""

    revenue: float
    surplus: float


class SurplusLine(NamedTuple):
    """What a way to set prices brings, and how much that is over the best posted rate."""

    seed: int
    way: str
    revenue: float
    surplus: float
    revenue_gain: float
    surplus_gain: float


def drawn_account(rng: np.random.Generator, size: float, worth: float) -> tuple[Buyer, Buyer]:
    """An account in two quarters: as large and as eager in both, with other wishes. The first of these is none."""
    size, worth = size * rng.lognormal(0.0, SIZES), worth * rng.lognormal(0.0, WORTHS)
    quarters = []
    for _ in range(2):
        price = rng.lognormal(0.0, 0.5, WISHES)
        price *= size / price.sum()
        share = worth * rng.lognormal(0.0, APART, WISHES)
        order = np.argsort(-share)
        listed, value = price[order].cumsum(), (share * price)[order].cumsum()
        quarters.append(Buyer(np.append(0.0, listed), np.append(0.0, value)))
    return quarters[0], quarters[1]


def compare_prices(seeds: Sequence[int]) -> Iterator[SurplusLine]:
    """For each seed: the best posted rate, the best schedule for all, and terms for each account."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        accounts = [drawn_account(rng, *kind) for kind in KINDS for _ in range(ACCOUNTS)]
        seen = [first for first, _ in accounts]
        posted = max(_flat(), key=lambda rates: _outcome(seen, [rates] * len(seen)).revenue)
        least = _outcome(seen, [posted] * len(seen)).surplus
        found = {rates: _outcome(seen, [rates] * len(seen)) for rates in _schedules()}
        schedule = max((r for r, one in found.items() if one.surplus >= least), key=lambda r: found[r].revenue)
        ways = {
            "best posted rate": [posted] * len(seen),
            "one schedule": [schedule] * len(seen),
            "offers by account": [bargain(buyer, posted) for buyer in seen],
        }
        outcomes = {way: _outcome([second for _, second in accounts], rates) for way, rates in ways.items()}
        base = outcomes["best posted rate"]
        for way, one in outcomes.items():
            gains = one.revenue / base.revenue - 1, one.surplus / base.surplus - 1
            yield SurplusLine(seed, way, one.revenue, one.surplus, *gains)


def bargain(buyer: Buyer, posted: TwoSteps) -> TwoSteps:
    """The terms that make most of what both gain, multiplied; the posted rate where none make both gain."""
    paid, left = buyer.taken(posted)
    best, agreed = 0.0, posted
    for rates in _schedules():
        now = buyer.taken(rates)
        gains = (now[0] - paid) * (now[1] - left) if now[0] > paid and now[1] > left else 0.0
        if gains > best:
            best, agreed = gains, rates
    return agreed


def _flat() -> list[TwoSteps]:
    return [TwoSteps(rate, 0.0, rate) for rate in RATES]


def _schedules() -> list[TwoSteps]:
    """TwoSteps that do not rise."""
    return [TwoSteps(*one) for one in product(RATES, THRESHOLDS, RATES) if one[2] <= one[0]]


def _outcome(buyers: Sequence[Buyer], rates: Sequence[TwoSteps]) -> MarketOutcome:
    taken = [buyer.taken(own) for buyer, own in zip(buyers, rates, strict=True)]
    return MarketOutcome(sum(paid for paid, _ in taken), sum(left for _, left in taken))
