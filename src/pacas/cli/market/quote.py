"""`pacas quote`: what requests, or a generalized query, would cost a buyer now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.market.named_provider import NamedProvider, buyer_name, opened_file, opened_remote
from pacas.cli.market.requests import Requests, RequestsOption, as_json, shown
from pacas.cli.market.would_match import found_otherwise, print_would_match, would_match
from pacas.cli.options import (
    AT_HAND,
    AnyProvider,
    BuyerOption,
    HowToReach,
    Json,
    is_url,
    out,
    print_json,
    printable,
    says_how_to_reach,
)
from pacas.cli.plain_table import plain_table
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.choosing import EngineChoice
from pacas.errors import InputError
from pacas.formats.requests_file import Asked
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import MAX_MATCHES, Ladders, Offer, Quote, Reason, Refusal
from pacas.protocol.order_of_checks import is_too_many

Told = Quote | Refusal | list[Quote | Refusal]
"""A quote, or one for each level from ground to root."""


@says_how_to_reach
@chooses_an_engine
def command(
    provider: AnyProvider,
    requests: RequestsOption = None,
    select: Annotated[
        str | None, typer.Option(metavar="'GEN:0, MED:1'", help="Instead: any query's output columns and levels.")
    ] = None,
    where: Annotated[str, typer.Option(metavar="'DIAG = migraine'", help="Its comparisons, joined by 'and'.")] = "",
    from_: Annotated[
        str, typer.Option("--from", metavar="'relation, doctors d'", help="Its relations; also 'join … on …'.")
    ] = MAIN,
    buyer: BuyerOption = None,
    reach: HowToReach = AT_HAND,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Say what requests would cost now, or why they are refused. Nothing is sold.

    A request without a level is quoted at every level, from ground to root. With --select, any generalized query is
    priced instead: joins, selections, several columns.

    JSON: quotes (price, or refused: the reason, and because: max_matches, where it is that; levels, a list of these,
    where a request names no level); would_match (attribute, found, tried: those that find nobody, and would in another
    spelling, dates: dmy or mdy, where it takes that; where there are any)

    Example: pacas quote provider.toml --requests requests.jsonl
    """
    named = NamedProvider(provider, reach, buyer, engine)
    question = _question(requests, select, where, from_)
    if is_url(named.provider):
        if isinstance(question, GeneralizedQuery):
            raise InputError("a provider at a URL sells single values only; price queries with its provider.toml")
        with opened_remote(named) as remote:
            catalogue = remote.catalogue()
            asked = question.among(catalogue)
            told = quotes(remote, catalogue, asked)
            others = found_otherwise(remote, catalogue, asked, told)
    else:
        name = buyer_name(buyer)
        with opened_file(named) as opened:
            if isinstance(question, GeneralizedQuery):
                _show_query(opened.quote_query(question, buyer=name), json)
                return
            catalogue = opened.catalogue()
            asked = question.among(catalogue)
            told = quotes(opened.as_buyer(name), catalogue, asked)
            others = found_otherwise(opened.as_buyer(name), catalogue, asked, told)
    if json:
        print_json({"quotes": [_as_json(one) for one in told]} | would_match(others))
    else:
        _print(asked, told)
        print_would_match(others)


def quotes(marketplace: Marketplace, catalogue: Mapping[str, Offer], asked: Sequence[Asked]) -> list[Told]:
    """A quote for each request, in their order; each attribute's tuples are matched in one go."""
    told: dict[int, Told] = {}
    for attribute, offer in catalogue.items():
        mine = [number for number, one in enumerate(asked) if one.attribute == attribute]
        if not mine:
            continue
        tuples = {column: [asked[number].tuple[column] for number in mine] for column in offer.columns}
        ladders = marketplace.quote_batch(attribute, tuples)
        for place, number in enumerate(mine):
            ladder, level = _with_cause(ladders, place, offer), asked[number].level
            told[number] = ladder if level is None else ladder[level]
    return [told[number] for number in range(len(asked))]


def _with_cause(ladders: Ladders, place: int, offer: Offer) -> list[Quote | Refusal]:
    """A tuple's quotes; where its rows are ambiguous for their number alone, they say so."""
    if not is_too_many(ladders.prices[place].tolist(), offer):
        return ladders[place]
    return [Refusal(Reason.AMBIGUOUS, MAX_MATCHES)] * len(ladders[place])


def _question(requests: str | None, select: str | None, where: str, from_: str) -> GeneralizedQuery | Requests:
    """What is asked: a query, or requests."""
    if requests is not None and select is not None:
        raise InputError("--requests and --select are two questions; ask them one by one")
    if select is not None:
        return GeneralizedQuery.parse(select, where, from_)
    if requests is None:
        raise InputError("nothing is asked; give --requests FILE, or --select with a query")
    if where or from_ != MAIN:
        raise InputError("--where and --from go with --select")
    return Requests(requests)


def _as_json(told: Told) -> dict[str, Any]:
    return {"levels": [as_json(one) for one in told]} if isinstance(told, list) else as_json(told)


def _show_query(told: Quote | Refusal, json: bool) -> None:
    if json:
        print_json({"quotes": [as_json(told)]})
        return
    out.print(shown(told).append(" (refused)" if isinstance(told, Refusal) else " credits"))


def _print(asked: Sequence[Asked], told: Sequence[Told]) -> None:
    """One row a request; a column per level as soon as one of them is quoted at all levels."""
    ladders = any(isinstance(one, list) for one in told)
    places = [
        len(quoted) if isinstance(quoted, list) else int(one.level or 0) + 1
        for one, quoted in zip(asked, told, strict=True)
    ]
    heads = [f"level {level}" for level in range(max(places))] if ladders else ["level", "price"]
    table = plain_table("request", "attribute", *heads, numbers=("request", *heads))
    for number, (one, quoted) in enumerate(zip(asked, told, strict=True), start=1):
        if isinstance(quoted, list):
            cells = [shown(at_level) for at_level in quoted]
        else:
            before = [Text()] * int(one.level or 0) if ladders else [Text(str(one.level))]
            cells = [*before, shown(quoted)]
        table.add_row(str(number), printable(one.attribute), *cells)
    if told:
        out.print(table)
    out.print(_summary(told))


def _summary(told: Sequence[Told]) -> str:
    flat = [one for quoted in told for one in (quoted if isinstance(quoted, list) else [quoted])]
    refused = sum(isinstance(one, Refusal) for one in flat)
    return f"{len(flat) - refused:,} priced, in credits; {refused:,} refused"
