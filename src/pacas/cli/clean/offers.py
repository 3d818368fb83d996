"""What a dry run says of private offers: what it costs on the terms of each, what it would plan then, which pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pacas.cli.options import out, printable
from pacas.client.buying.sellers import Markets
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.offered_terms import (
    PlanCompared,
    Planned,
    PlanOnTerms,
    QuotedOnTerms,
    StandingOffers,
    compare_plan,
)
from pacas.core.money import credits_words, in_credits
from pacas.core.words import counted
from pacas.protocol.messages import OfferedTerms

Compared = Mapping[str | None, PlanCompared]
"""By the provider's name; None where there is one alone."""


def compared_offers(
    cleaning: Cleaning,
    standing: Mapping[str | None, StandingOffers],
    markets: Markets,
    run_dry: Callable[[Markets], Cleaning],
) -> Compared:
    """Of each provider at which something can be accepted: its part of the plan, on all terms; and plans made anew."""
    found: dict[str | None, PlanCompared] = {}
    for name, at in standing.items():
        if not at.offers:
            continue

        def anew(offer: OfferedTerms, name: str | None = name, at: StandingOffers = at) -> Planned:
            return Planned.of(run_dry(_on_terms(markets, name, at, offer)), name)

        found[name] = compare_plan(Planned.of(cleaning, name), at, cleaning.budget_nanocredits, anew)
    return found


def _on_terms(markets: Markets, name: str | None, at: StandingOffers, offer: OfferedTerms) -> Markets:
    if isinstance(markets, Mapping):
        return {who: QuotedOnTerms(m, at, offer) if who == name else m for who, m in markets.items()}
    return QuotedOnTerms(markets, at, offer)


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
            "saves": in_credits(one.saves),
            "anew": _anew_as_json(one),
        }
        for name, plan in compared.items()
        for one in plan.on_terms
    ]
    return {"offers": found} if found else {}


def _anew_as_json(one: PlanOnTerms) -> dict[str, Any] | None:
    if one.anew is None:
        return None
    plan = one.anew
    return {
        "purchases": plan.purchases,
        "list_price": in_credits(plan.list_price),
        "bill": in_credits(plan.bill),
        "violations_after": plan.violations,
    }


def print_offers(compared: Compared) -> None:
    for line in _lines(compared):
        out.print(line)


def _verdict(one: PlanOnTerms) -> str:
    if not one.pays:
        return "would not pay"
    return f"saves {credits_words(one.saves)}" if one.saves > 0 else "buys more for no more"


def _lines(compared: Compared) -> Iterator[str]:
    for name, plan in compared.items():
        at = "" if name is None else f" at {printable(name)}"
        listed, cost = credits_words(plan.list_price), credits_words(plan.cost)
        yield f"\nOffers{at}: this plan is {listed} by the list, {cost} now."
        for one in plan.on_terms:
            offer = one.offer
            prepaid = f", {credits_words(offer.prepaid)} prepaid" if offer.prepaid else ""
            verdict = _verdict(one)
            terms = f"{offer.schedule.words()}{prepaid}, {counted(offer.days, 'day')}"
            yield f"  {printable(offer.id)} ({terms}): {credits_words(one.bill)}; {verdict}"
            if (anew := one.anew) is not None:
                buys = f"{counted(anew.purchases, 'purchase')} for {credits_words(anew.bill)} in all"
                left = f"{counted(anew.violations, 'violation')} left"
                yield f"    planned anew on these terms: {buys}, {credits_words(anew.list_price)} by the list, {left}"
        best = plan.on_terms[0]
        if best.pays:
            yield f"  To accept it: pacas offer accept {printable(best.offer.id)} PROVIDER"
