"""`pacas buy`: pay for requests, and get their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.market.named_provider import (
    NamedProvider,
    buyer_name,
    check_receipts,
    keeping_receipts,
    opened_file,
    opened_remote,
)
from pacas.cli.market.requests import Requests, as_json, shown
from pacas.cli.market.would_match import Found, found_otherwise, print_would_match, would_match
from pacas.cli.options import (
    AT_HAND,
    AnyProvider,
    BuyerOption,
    HowToReach,
    Json,
    ReceiptsOption,
    is_url,
    out,
    print_json,
    printable,
    says_how_to_reach,
)
from pacas.cli.plain_table import plain_table
from pacas.core.money import credits_words, in_credits, not_negative
from pacas.engine.choosing import EngineChoice
from pacas.errors import KeyReusedError, PacasError
from pacas.formats.requests_file import Asked
from pacas.protocol.marketplace import Marketplace, with_cause
from pacas.protocol.messages import LARGEST, Answer, Offer, Refusal

if TYPE_CHECKING:
    from pacas.provider.ledger.ledger import Ledger

Told = Answer | Refusal


@says_how_to_reach
@chooses_an_engine
def command(
    provider: AnyProvider,
    requests: Annotated[
        str, typer.Option("--requests", metavar="FILE", help="Requests as JSON lines; '-' reads standard input.")
    ],
    ceiling: Annotated[
        str | None, typer.Option(metavar="CREDITS", help="The most that a single value may cost.")
    ] = None,
    buyer: BuyerOption = None,
    receipts: ReceiptsOption = None,
    reach: HowToReach = AT_HAND,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Buy what is asked for, in order, each at the price of that moment. The ledger keeps every purchase.

    All requests are checked before the first is paid for. What was bought before costs nothing again. A request that
    has a "key" is charged once, however often it is sent.

    JSON: purchases (price and answer, or refused: the reason, and because: max_matches, where it is that; from a URL
    with the provider's receipt), spent; would_match (attribute, found, tried: those that find nobody, and would in
    another spelling, dates: dmy or mdy, where it takes that; where there are any)

    Example: pacas buy provider.toml --requests requests.jsonl --as ann
    """
    named = NamedProvider(provider, reach, buyer, engine)
    check_receipts(named.provider, receipts)
    most = None if ceiling is None else not_negative(ceiling, "--ceiling")
    given = Requests(requests)
    if is_url(named.provider):
        with opened_remote(named) as remote:
            catalogue = remote.catalogue()
            asked = given.among(catalogue)
            _check(given, asked)
            marketplace = keeping_receipts(remote, receipts)
            told = _buy(marketplace, given, asked, LARGEST if most is None else most)
            others = _others(remote, catalogue, asked, told)
    else:
        name = buyer_name(buyer)
        with opened_file(named) as opened:
            catalogue = opened.catalogue()
            asked = given.among(catalogue)
            _check(given, asked)
            _check_keys(given, asked, name, opened.ledger)
            told = _buy(opened.as_buyer(name), given, asked, opened.shop.total if most is None else most)
            others = _others(opened.as_buyer(name), catalogue, asked, told)
    if json:
        spent = sum(one.price for one in told if isinstance(one, Answer))
        print_json({"purchases": [as_json(one) for one in told], "spent": in_credits(spent)} | would_match(others))
    else:
        _print(asked, told)
        print_would_match(others)


def _check(given: Requests, asked: Sequence[Asked]) -> None:
    """Raise where a request has no level, or a key that stands for two: not in the middle of the purchases."""
    used: dict[str, Asked] = {}
    for one in asked:
        if one.level is None:
            given.fail(one, '"level" is missing; say at which level to buy (pacas quote shows all of them)')
        if one.key is not None and used.setdefault(one.key, one).request != one.request:
            given.fail(one, f"the key of line {used[one.key].line}, for another request; give each its own")


def _check_keys(given: Requests, asked: Sequence[Asked], buyer: str, ledger: Ledger) -> None:
    """Raise where a key was an earlier purchase's, of another request."""
    for one in asked:
        if one.key is not None:
            try:
                ledger.find(buyer, one.key, one.request)
            except KeyReusedError as error:
                given.fail(one, error)


def _buy(marketplace: Marketplace, given: Requests, asked: Sequence[Asked], ceiling: int) -> list[Told]:
    run = uuid4().hex
    told: list[Told] = []
    for one in asked:
        try:
            got = marketplace.pay(one.request, ceiling, one.key or f"{run} {one.line}")
            told.append(got if isinstance(got, Answer) else with_cause(got, one.request, marketplace))
        except PacasError as error:
            bought = sum(isinstance(before, Answer) for before in told)
            again = f"; {bought:,} before it were bought, and cost nothing if asked again" if bought else ""
            given.fail(one, f"{error}{again}")
    return told


def _others(
    marketplace: Marketplace, catalogue: Mapping[str, Offer], asked: Sequence[Asked], told: Sequence[Told]
) -> Found:
    """What other spellings find; what was bought is told, also where that is not."""
    try:
        return found_otherwise(marketplace, catalogue, asked, told)
    except PacasError:
        return {}


def _print(asked: Sequence[Asked], told: Sequence[Told]) -> None:
    table = plain_table("request", "attribute", "level", "price", "answer", numbers=("request", "level", "price"))
    for number, (one, got) in enumerate(zip(asked, told, strict=True), start=1):
        answer = printable(got.value) if isinstance(got, Answer) else ""
        table.add_row(str(number), printable(one.attribute), str(one.level), shown(got), answer)
    if told:
        out.print(table)
    answers = [one for one in told if isinstance(one, Answer)]
    spent = credits_words(sum(one.price for one in answers))
    out.print(f"{len(answers):,} bought for {spent}; {len(told) - len(answers):,} refused")
