"""`pacas catalogue`: what a provider sells, what a request for it needs, and what it costs where that is public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.market.named_provider import NamedProvider, opened_file, opened_remote
from pacas.cli.options import (
    AT_HAND,
    AnyProvider,
    HowToReach,
    Json,
    is_url,
    out,
    print_json,
    printable,
    says_how_to_reach,
)
from pacas.cli.plain_table import plain_table
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import credits_words, in_credits, rounded_text
from pacas.core.rates.schedule import LIST, Schedule
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.protocol.messages import ListedLadder, ListedPrices, Offer, PriceBounds

SHOWN = 5
"""Price ladders of an attribute that are listed."""


@says_how_to_reach
@chooses_an_engine
def command(
    provider: AnyProvider,
    reach: HowToReach = AT_HAND,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Say what a provider sells, which columns a request needs, at which levels, and the prices where they are public.

    Where quotes are sealed, prices follow from public columns and are told: what a request costs who has bought
    nothing, and below which level nobody is sold it. Where they are the paper's they follow the value: told is from
    where to where one row can cost, and pacas quote says the rest.

    JSON: quotes (sealed or paper), total (of a file; null at a URL), schedule (above: list credits, per_cent of list
    prices), attributes (attribute, columns, height, values: how many a level has, null where they are not told; digest:
    the hierarchy's, null likewise; may_be_absent, floor: the finest level that anybody may buy, prices: null, or keys,
    linked, ladders: prices, floor, keys; has_list: whether clients can quote from a list of all keys; bounds: null, or
    the lowest and the highest price of one row at each level)

    Example: pacas catalogue provider.toml
    """
    named = NamedProvider(provider, reach, engine=engine)
    total, schedule = None, LIST
    if is_url(named.provider):
        with opened_remote(named) as remote:
            offers, schedule = remote.catalogue(), remote.schedule()
    else:
        with opened_file(named) as opened:
            offers, total, schedule = opened.catalogue(), opened.shop.total, opened.till.schedule
    if json:
        print_json(as_json(offers, total, schedule))
    else:
        _print(offers, total, schedule)


def as_json(offers: Mapping[str, Offer], total: int | None, schedule: Schedule = LIST) -> dict[str, Any]:
    """What is for sale; money in credits."""
    return {
        "quotes": _quotes(offers),
        "total": None if total is None else in_credits(total),
        "schedule": [{"above": in_credits(step.above), "per_cent": step.rate / 100} for step in schedule.steps],
        "attributes": [
            {
                "attribute": offer.attribute,
                "columns": list(offer.columns),
                "height": offer.hierarchy.height,
                "values": _values(offer.hierarchy),
                "digest": offer.hierarchy.digest if offer.hierarchy.ground_labels else None,
                "may_be_absent": offer.may_be_absent,
                "floor": offer.floor,
                "prices": None if offer.prices is None else _prices(offer.prices),
                "bounds": None if offer.bounds is None else [[*map(in_credits, one)] for one in offer.bounds],
            }
            for offer in offers.values()
        ],
    }


def _quotes(offers: Mapping[str, Offer]) -> str:
    return "sealed" if any(offer.is_sealed for offer in offers.values()) else "paper"


def _values(hierarchy: Hierarchy) -> list[int] | None:
    """How many values each level has; None where a provider tells of none but the root."""
    if not hierarchy.ground_labels:
        return None
    return [len(hierarchy.at_level(level)) for level in range(hierarchy.height + 1)]


def _prices(listed: ListedPrices) -> dict[str, Any]:
    ladders = [
        {"prices": [in_credits(price) for price in one.prices], "floor": one.floor, "keys": one.keys}
        for one in listed.ladders
    ]
    linked = list(listed.linked)
    return {"keys": listed.keys, "linked": linked, "ladders": ladders, "has_list": listed.has_list}


def _print(offers: Mapping[str, Offer], total: int | None, schedule: Schedule) -> None:
    in_all = "" if total is None else f", {credits_words(total)} for everything"
    out.print(f"{counted(len(offers), 'attribute')} for sale, {_quotes(offers)} quotes{in_all}")
    if not schedule.is_flat:
        out.print(f"who buys more pays less: {schedule.words()}")
    table = plain_table("attribute", "a request needs", "levels", "values from level 0 on", numbers=("levels",))
    for offer in offers.values():
        values = _values(offer.hierarchy)
        told = "not told" if values is None else " → ".join(f"{n:,}" for n in values)
        columns = ", ".join(offer.columns)
        table.add_row(printable(offer.attribute), printable(columns), str(offer.hierarchy.height + 1), told)
    out.print(table)
    for offer in offers.values():
        if offer.floor:
            out.print(printable(f"{offer.attribute}: nobody is sold it below level {offer.floor}"))
        if offer.prices is not None:
            _print_prices(offer, offer.prices)
        elif offer.bounds is not None:
            _print_bounds(offer, offer.bounds)
    if any(offer.prices is None for offer in offers.values()):
        out.print("\npacas quote says what a request costs")


def _print_prices(offer: Offer, listed: ListedPrices) -> None:
    more = f", with what was bought of {', '.join(listed.linked)}" if len(listed.linked) > 1 else ""
    keys = counted(listed.keys, "key")
    out.print("\n" + printable(f"{offer.attribute}: {keys}; credits for who has bought nothing{more}"))
    heads = [f"level {level}" for level in range(offer.hierarchy.height + 1)]
    table = plain_table("keys", *heads, numbers=("keys", *heads))
    having = Counter[tuple[str, ...]]()  # some differ by less than people are shown
    for ladder in listed.ladders:
        having[_ladder(ladder)] += ladder.keys
    for prices, number in having.most_common(SHOWN):
        table.add_row(f"{number:,}", *prices)
    out.print(table)
    if len(having) > SHOWN:
        out.print(f"… and {len(having) - SHOWN:,} more prices (with --json)")
    if offer.may_be_absent:
        out.print("an answer may be that the person is absent")


def _print_bounds(offer: Offer, bounds: Sequence[PriceBounds]) -> None:
    said = "credits for one row, by its value, for who has bought nothing; more where a policy needs it"
    out.print("\n" + printable(f"{offer.attribute}: {said}"))
    heads = [f"level {level}" for level in range(len(bounds))]
    table = plain_table(*heads, numbers=heads)
    ends = (dict.fromkeys(map(rounded_text, one)) for one in bounds)
    table.add_row(*("–" if level < offer.floor else " to ".join(one) for level, one in enumerate(ends)))
    out.print(table)


def _ladder(ladder: ListedLadder) -> tuple[str, ...]:
    """A price a level; none below the floor, where it is not sold."""
    return tuple("–" if level < ladder.floor else rounded_text(price) for level, price in enumerate(ladder.prices))
