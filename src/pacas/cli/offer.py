"""`pacas offer`: private offers, as their provider makes them and their buyer answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from time import time
from typing import Annotated, Any

import typer

from pacas.cli.market.named_provider import NamedProvider, opened_remote
from pacas.cli.opened_provider import kept_provider, offered_terms, offers_to, opened_provider
from pacas.cli.options import (
    AT_HAND,
    AnyProvider,
    HowToReach,
    Json,
    ProviderArgument,
    command_group,
    is_url,
    out,
    print_json,
    printable,
    says_how_to_reach,
)
from pacas.cli.plain_table import plain_table
from pacas.core.money import in_credits, not_negative, rounded_text
from pacas.core.rates.schedule import Schedule
from pacas.core.words import counted
from pacas.errors import InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.protocol.messages import OfferedTerms, Refusal
from pacas.provider.ledger.offers import OfferState, PrivateOffer, claim, make, new_offer_id, offer_named, withdraw
from pacas.provider.till import DAY
from pacas.storage.url import open_accounts, open_offers
from pacas.wire.connection_file import moment
from pacas.wire.shapes.accounts import LEAST_RATE

app = command_group(
    """Private offers: terms for one account, made by its provider and accepted by its buyer.

    Example: pacas offer list provider.toml
    """
)

STANDS = 30
Id = Annotated[str, typer.Argument(metavar="ID", help="The offer, as pacas offer list names it.")]
Prepaid = Annotated[
    str, typer.Option(metavar="CREDITS", help="The least that is paid for purchases while the terms last.")
]
Days = Annotated[int, typer.Option(metavar="DAYS", help="How long the terms last, once accepted.")]


@app.command("make")
def make_(
    buyer: Annotated[str, typer.Argument(metavar="BUYER", help="The account that may accept it.")],
    provider: ProviderArgument,
    schedule: Annotated[
        str, typer.Option(metavar="0:80,20:60", help="Above so many list credits, per cent of the list.")
    ],
    prepaid: Prepaid = "0",
    days: Days = 90,
    stands: Annotated[int, typer.Option(metavar="DAYS", help="How long it can be accepted.")] = STANDS,
    json: Json = False,
) -> None:
    """Offer terms to one account: it may accept them, or not. What it has asked for is answered by that.

    Rates may not rise: two accounts would pay less than one. Once accepted, the terms are in the ledger.

    JSON: offer, buyer, state, stands, schedule (above, per_cent), prepaid, days, stands_until

    Example: pacas offer make ann provider.toml --schedule 0:80,20:60 --prepaid 40 --days 90
    """
    file = kept_provider(provider)
    if not 1 <= stands <= 3660:
        raise InputError("--stands is a number of days, from 1 to 3,660")
    until = int(time()) + stands * DAY
    offer = PrivateOffer(
        new_offer_id(),
        buyer,
        Schedule.parse(schedule),
        _prepaid(prepaid),
        days,
        OfferState.MADE,
        until,
    )
    with closing(open_accounts(file.ledger_url, file.folder)) as accounts:
        has_account = any(account.name == buyer and not account.revoked for account in accounts.list())
    with closing(open_offers(file.ledger_url, file.folder)) as offers:
        make(offers, offer)
    _show(offered_terms(offer), json)
    if not has_account and not json:
        out.print(f"There is no account {printable(buyer)} yet; it can accept the offer when there is.")


@app.command("ask")
@says_how_to_reach
def ask_(
    provider: AnyProvider,
    rate: Annotated[str, typer.Option(metavar="PERCENT", help="What you would like to pay, of the list.")],
    prepaid: Prepaid = "0",
    days: Days = 90,
    reach: HowToReach = AT_HAND,
    json: Json = False,
) -> None:
    """Ask a provider at a URL for other terms. Nothing changes until it makes an offer, and you accept it.

    JSON: offer, state, stands, schedule (above, per_cent), prepaid, days, stands_until

    Example: pacas offer ask https://provider.example --rate 70 --prepaid 40 --days 90
    """
    named = NamedProvider(provider, reach)
    if not is_url(named.provider):
        raise InputError("ask a provider at a URL, or by a connection file; its owner makes offers: pacas offer make")
    wished = Schedule.of([[0, rate]]).steps[0].rate
    if wished < LEAST_RATE:
        raise InputError(f"--rate is in per cent of the list, and at least 1; {rate} asks for less: 70 is 70 %")
    with opened_remote(named) as remote:
        _show(remote.ask_offer(wished, _prepaid(prepaid), days), json)


@app.command("list")
@says_how_to_reach
def list_(provider: AnyProvider, reach: HowToReach = AT_HAND, json: Json = False) -> None:
    """List offers and what was asked for: all of them with a provider's file, your own at a URL.

    JSON: offers (offer, buyer with a file, state, stands, schedule (above, per_cent), prepaid, days, stands_until)

    Example: pacas offer list provider.toml
    """
    named = NamedProvider(provider, reach)
    if is_url(named.provider):
        with opened_remote(named) as remote:
            found: Sequence[OfferedTerms] = remote.offers()
    else:
        found = offers_to(named.file)
    if json:
        print_json({"offers": [_as_json(one) for one in found]})
    elif found:
        _print(found)
    else:
        out.print("no offers; pacas offer make makes one, and pacas offer ask asks for one")


@app.command("accept")
@says_how_to_reach
def accept(id: Id, provider: AnyProvider, reach: HowToReach = AT_HAND, json: Json = False) -> None:
    """Accept an offer: you buy on its terms from now on. With a file, for the buyer that it was made to.

    JSON: offer, buyer with a file, state, stands, schedule (above, per_cent), prepaid, days, stands_until

    Example: pacas offer accept 1f0c52a9b7d3 https://provider.example
    """
    named = NamedProvider(provider, reach)
    if is_url(named.provider):
        with opened_remote(named) as remote:
            _show(remote.accept_offer(id), json)
    else:
        _show(_accept_in_process(id, named.file), json)


@app.command("withdraw")
@says_how_to_reach
def withdraw_(id: Id, provider: AnyProvider, reach: HowToReach = AT_HAND, json: Json = False) -> None:
    """Withdraw an offer that nobody has accepted; at a URL, decline it, or take back what you asked for.

    JSON: offer, buyer with a file, state, stands, schedule (above, per_cent), prepaid, days, stands_until

    Example: pacas offer withdraw 1f0c52a9b7d3 provider.toml
    """
    named = NamedProvider(provider, reach)
    if is_url(named.provider):
        with opened_remote(named) as remote:
            _show(remote.withdraw_offer(id), json)
        return
    file = kept_provider(named.provider)
    with closing(open_offers(file.ledger_url, file.folder)) as offers:
        withdraw(offers, offer_named(id, offers.list()))
        _show(offered_terms(offer_named(id, offers.list())), json)


def _accept_in_process(id: str, file: ProviderFile) -> OfferedTerms:
    with closing(open_offers(file.ledger_url, file.folder)) as offers:
        offer = offer_named(id, offers.list())
        with opened_provider(file) as opened:
            claim(offers, offer, time())
            try:
                agreed = opened.till.agree(offer.key, offer.schedule, offer.prepaid, offer.days, buyer=offer.buyer)
            except InputError:
                offers.change(offer.id, OfferState.ACCEPTED, OfferState.MADE)
                raise
            assert not isinstance(agreed, Refusal)  # in its own process nobody has a credit
        return offered_terms(offer_named(id, offers.list()))


def _prepaid(given: str) -> int:
    return not_negative(given, "--prepaid", "0 is no prepayment")


def _as_json(one: OfferedTerms) -> dict[str, Any]:
    return {
        "offer": one.id,
        **({} if one.buyer is None else {"buyer": one.buyer}),
        "state": one.state,
        "stands": one.stands,
        "schedule": [{"above": in_credits(s.above), "per_cent": s.rate / 100} for s in one.schedule.steps],
        "prepaid": in_credits(one.prepaid),
        "days": one.days,
        "stands_until": moment(one.stands_until),
    }


def _show(one: OfferedTerms, json: bool) -> None:
    if json:
        print_json(_as_json(one))
    else:
        _print([one])


def _print(found: Sequence[OfferedTerms]) -> None:
    for_all = any(one.buyer is not None for one in found)
    table = plain_table("offer", *(["buyer"] if for_all else ()), "state", "rates", "prepaid", "lasts", "stands until")
    for one in found:
        until = moment(one.stands_until)[:10] if one.stands else ""
        state = "expired" if one.state == OfferState.MADE and not one.stands else one.state
        named = [printable(one.buyer)] if for_all else []
        lasts, prepaid = counted(one.days, "day"), rounded_text(one.prepaid) if one.prepaid else ""
        table.add_row(printable(one.id), *named, state, one.schedule.words(), prepaid, lasts, until)
    out.print(table)
