"""Price ladder: what a tuple costs one buyer at each level, or truly why not. The provider's own view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from pacas.console.board import Board
from pacas.console.visits import Visit, Visits
from pacas.protocol.messages import Offer, Quote, Reason
from pacas.provider.ledger.accounts import Role

NEW = "(a buyer who has bought nothing)"
"""A name that no purchase has."""

REASONS: Mapping[Reason, str] = {
    Reason.NO_MATCH: "no row matches",
    Reason.AMBIGUOUS: "the rows that match differ here, or are too many",
    Reason.UNSAFE: "a policy would hold no longer",
}


class Rung(NamedTuple):
    """One level: its price in nanocredits, or why it is refused."""

    level: int
    price: int | None
    reason: str
    because: str


def routes(board: Board, visits: Visits) -> list[Route]:
    offers = list(board.service.provider.catalogue().values())

    async def ladder(visit: Visit) -> Response:
        number = min(max(0, visit.number("attribute")), len(offers) - 1)
        return await _page(board, visit, offers, number, None)

    async def priced(visit: Visit) -> Response:
        number = min(max(0, visit.number("attribute")), len(offers) - 1)
        offer = offers[number]
        asked: dict[str, list[str | None]] = {
            column: [visit.form.get(f"column-{place}") or None] for place, column in enumerate(offer.columns)
        }
        buyer = visit.form.get("buyer") or NEW
        told = await board.service.pools.quotes.run(
            board.service.provider.quote_batch, offer.attribute, asked, buyer=buyer
        )
        board.note(visit, "ladder", attribute=offer.attribute, buyer=buyer)
        rungs = [
            Rung(level, quoted.price, "", "")
            if isinstance(quoted, Quote)
            else Rung(level, None, quoted.reason.value, REASONS.get(quoted.reason, "refused"))
            for level, quoted in enumerate(told[0])
        ]
        return await _page(board, visit, offers, number, rungs)

    return [visits.get("/ladder", ladder), visits.post("/ladder", priced)]


async def _page(board: Board, visit: Visit, offers: list[Offer], number: int, rungs: list[Rung] | None) -> Response:
    accounts, totals = await board.ask(lambda: (board.service.accounts.list(), board.service.provider.ledger.totals()))
    clients = {account.name for account in accounts if account.role is Role.CLIENT}
    given = [visit.form.get(f"column-{place}", "") for place in range(len(offers[number].columns))]
    return board.page(
        visit,
        "ladder.html",
        offers=[(place, offer.attribute) for place, offer in enumerate(offers)],
        number=number,
        offer=offers[number],
        given=given,
        buyers=sorted(clients | set(totals)),
        buyer=visit.form.get("buyer", ""),
        new=NEW,
        rungs=rungs,
    )
