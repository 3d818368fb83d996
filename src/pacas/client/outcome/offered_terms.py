"""What a plan would cost on the terms of private offers, what would be planned on them, and which would pay.

A plan's quotes are asked for while nothing is bought, so each is at the rates of now. What the list says of each
follows from them, and with it what all would cost together: f(W + p) − f(W), on these rates or on an offer's. And with
it what would be quoted on an offer's terms: by these quotes a plan is made anew, as other purchases may be worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.core.rates.schedule import Schedule
from pacas.protocol.marketplace import Columns, Forwarding, Marketplace
from pacas.protocol.messages import Ladders, OfferedTerms, Quote, Refusal, Request

MOST_PLANS = 3
"""For so many offers at a provider, those of the lowest bill, a plan is made anew: each takes as long as the first."""


class StandingOffers(NamedTuple):
    """An account's rates and list credits at a provider, and what it may accept there."""

    schedule: Schedule
    listed: int
    offers: Sequence[OfferedTerms] = ()


class QuotedOnTerms(Forwarding):
    """A marketplace as it would quote if an offer had been accepted. Nothing is bought there."""

    def __init__(self, marketplace: Marketplace, standing: StandingOffers, offer: OfferedTerms) -> None:
        super().__init__(marketplace)
        self._standing, self._offer = standing, offer

    def quote(self, request: Request) -> Quote | Refusal:
        quoted = super().quote(request)
        return Quote(self._on_terms(quoted.price)) if isinstance(quoted, Quote) else quoted

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        prices = super().quote_batch(attribute, tuples).prices
        found, places = np.unique(prices, return_inverse=True)
        quotes = [self._on_terms(price) if price > 0 else price for price in found.tolist()]
        return Ladders(np.array(quotes, dtype=np.int64)[places].reshape(prices.shape))

    def _on_terms(self, quoted: int) -> int:
        listed = self._standing.listed
        return self._offer.schedule.quote(listed, self._standing.schedule.list_price(listed, quoted))


class PlannedAnew(NamedTuple):
    """What would be bought if an offer had been accepted. Money in nanocredits."""

    purchases: int
    list_price: int
    """Of what would be bought of who offers."""
    bill: int
    """What is paid in all, to whomever."""
    violations: int
    """That would be left."""


class Planned(NamedTuple):
    """What a plan buys."""

    orders: frozenset[tuple[str | None, str, int, int]]
    """By provider, attribute, row and level."""
    quotes: Sequence[int]
    """Of who offers."""
    elsewhere: int
    """What it pays to others."""
    violations: int
    """That it would leave."""

    @classmethod
    def of(cls, cleaning: Cleaning, provider: str | None) -> Planned:
        """The plan of a dry run, as one of its providers sees it."""
        bought = cleaning.purchases
        return cls(
            frozenset((p.provider, p.attribute, p.row, p.level) for p in bought),
            [p.price for p in bought if p.provider == provider],
            sum(p.price for p in bought if p.provider != provider),
            cleaning.violations_after,
        )


class PlanOnTerms(NamedTuple):
    """What a plan costs on an offer's terms, and with what is prepaid. Money in nanocredits."""

    offer: OfferedTerms
    cost: int
    bill: int
    """What is paid in all: the cost, or what is prepaid where that is more."""
    saves: int
    """What is paid less than on the rates of now; below 0, if it is more."""
    anew: PlannedAnew | None = None
    """The plan that would be made on these terms, where it is another."""
    pays: bool = False
    """It costs less; or a plan made anew buys more, by the list, for no more than this one costs now."""


class PlanCompared(NamedTuple):
    """A plan on the rates of now, and on those of each offer: those first that would pay, the lowest bill first."""

    cost: int
    list_price: int
    on_terms: tuple[PlanOnTerms, ...]


PlanAnew = Callable[[OfferedTerms], Planned]
"""A dry run at the quotes of an offer."""


def compare_plan(plan: Planned, standing: StandingOffers, budget: int, anew: PlanAnew) -> PlanCompared:
    """What a plan costs on all terms that there are; and what would be planned on those of the lowest bills."""
    schedule, listed, offers = standing
    price = _list_price(plan.quotes, schedule, listed)
    now = schedule.quote(listed, price)
    same = []
    for offer in offers:
        cost = offer.schedule.quote(listed, price)
        bill = max(cost, offer.prepaid)
        same.append(PlanOnTerms(offer, cost, bill, now - bill, pays=bill < now))
    same.sort(key=lambda one: (one.bill, one.offer.id))
    within = [one for one in same if one.offer.prepaid <= budget][:MOST_PLANS]
    found = []
    for one in same:
        if one in within and (planned := anew(one.offer)).orders != plan.orders:
            other = _on_terms(one.offer, planned, listed)
            more = other.list_price > price and other.bill <= plan.elsewhere + now
            one = one._replace(anew=other, pays=one.pays or more)
        found.append(one)
    return PlanCompared(now, price, tuple(sorted(found, key=lambda one: (not one.pays, one.bill, one.offer.id))))


def _list_price(quotes: Iterable[int], schedule: Schedule, listed: int) -> int:
    return sum(schedule.list_price(listed, quoted) for quoted in quotes)


def _on_terms(offer: OfferedTerms, plan: Planned, listed: int) -> PlannedAnew:
    """A plan at an offer's own quotes."""
    price = _list_price(plan.quotes, offer.schedule, listed)
    bill = max(offer.schedule.quote(listed, price), offer.prepaid)
    return PlannedAnew(len(plan.orders), price, plan.elsewhere + bill, plan.violations)
