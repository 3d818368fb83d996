"""What a plan would cost on the terms of private offers, and which of them would pay.

A plan's quotes are asked for while nothing is bought, so each is at the rates of now. What the list says of each
follows from them, and with it what all would cost together: f(W + p) − f(W), on these rates or on an offer's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pacas.core.schedule import Schedule
from pacas.protocol.messages import OfferedTerms


class StandingOffers(NamedTuple):
    """An account's rates and list credits at a provider, and what it may accept there."""

    schedule: Schedule
    listed: int
    offers: Sequence[OfferedTerms] = ()


class PlanOnTerms(NamedTuple):
    """What a plan costs on an offer's terms, and with what is prepaid. Money in nanocredits."""

    offer: OfferedTerms
    cost: int
    bill: int
    """What is paid in all: the cost, or what is prepaid where that is more."""
    saves: int
    """What is paid less than on the rates of now; below 0, if it is more."""

    @property
    def pays(self) -> bool:
        return self.saves > 0


class PlanCompared(NamedTuple):
    """A plan on the rates of now, and on those of each offer; the best first."""

    cost: int
    list_price: int
    on_terms: tuple[PlanOnTerms, ...]


def compare_plan(quotes: Iterable[int], standing: StandingOffers) -> PlanCompared:
    """What purchases that are quoted so cost together, on all terms that there are."""
    schedule, listed, offers = standing
    price = sum(schedule.list_price(listed, quoted) for quoted in quotes)
    now = schedule.quote(listed, price)
    found = []
    for offer in offers:
        cost = offer.schedule.quote(listed, price)
        bill = max(cost, offer.prepaid)
        found.append(PlanOnTerms(offer, cost, bill, now - bill))
    return PlanCompared(now, price, tuple(sorted(found, key=lambda one: (one.bill, one.offer.id))))
