"""What a dry run says of private offers: what its plan would cost on the terms of each, and which would pay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pacas.cli.options import out, printable
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.offered_terms import PlanCompared, StandingOffers, compare_plan
from pacas.core.money import credits_words, in_credits
from pacas.core.words import counted

Compared = Mapping[str | None, PlanCompared]
"""By the provider's name; None where there is one alone."""


def compared_offers(cleaning: Cleaning, standing: Mapping[str | None, StandingOffers]) -> Compared:
    """Of each provider at which something can be accepted: its part of the plan, on all terms."""
    return {
        name: compare_plan((p.price for p in cleaning.purchases if p.provider == name), offers)
        for name, offers in standing.items()
        if offers.offers
    }


def offers_as_json(compared: Compared) -> dict[str, Any]:
    """The plan on each offer's terms; money in credits."""
    found = [
        {
            **({} if name is None else {"provider": name}),
            "offer": one.offer.id,
            "prepaid": in_credits(one.offer.prepaid),
            "days": one.offer.days,
            "cost_now": in_credits(plan.cost),
            "cost": in_credits(one.cost),
            "bill": in_credits(one.bill),
            "pays": one.pays,
        }
        for name, plan in compared.items()
        for one in plan.on_terms
    ]
    return {"offers": found} if found else {}


def print_offers(compared: Compared) -> None:
    for line in _lines(compared):
        out.print(line)


def _lines(compared: Compared) -> Iterator[str]:
    for name, plan in compared.items():
        at = "" if name is None else f" at {printable(name)}"
        listed, cost = credits_words(plan.list_price), credits_words(plan.cost)
        yield f"\nOffers{at}: this plan is {listed} by the list, {cost} now."
        for one in plan.on_terms:
            offer = one.offer
            prepaid = f", {credits_words(offer.prepaid)} prepaid" if offer.prepaid else ""
            verdict = f"saves {credits_words(one.saves)}" if one.pays else "would not pay"
            terms = f"{offer.schedule.words()}{prepaid}, {counted(offer.days, 'day')}"
            yield f"  {printable(offer.id)} ({terms}): {credits_words(one.bill)}; {verdict}"
        best = plan.on_terms[0]
        if best.pays:
            yield f"  To accept it: pacas offer accept {printable(best.offer.id)} PROVIDER"
