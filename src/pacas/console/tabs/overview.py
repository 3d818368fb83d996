"""Overview: what was sold, what was refused and why, whether the ledger is true, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from pacas.console.alerts import alerts
from pacas.console.board import SOON, Board
from pacas.console.refusal_counts import by_account, by_reason
from pacas.console.sales_sums import DAY, Summed
from pacas.console.tabs.sales import sales_chart
from pacas.console.visits import Visit, Visits, redirect
from pacas.core.money import credits_words
from pacas.core.words import counted
from pacas.pages.pieces import Card
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.chain import Head, Total
from pacas.provider.ledger.refusals import HOUR, RefusalCount

MONTH = 30
"""Days that refusals are shown of."""


class Known(NamedTuple):
    """What the store says at one moment."""

    accounts: Sequence[Account]
    totals: dict[str, Total]
    head: Head
    summed: Summed
    refused: Sequence[RefusalCount]


def routes(board: Board, visits: Visits) -> list[Route]:
    async def overview(visit: Visit) -> Response:
        maker = board.figures
        figures = await board.ask(lambda: maker.current(SOON))
        now = board.clock()
        known = await board.ask(lambda: _known(board, int(now) // HOUR - 24 * MONTH))
        lately = [count for count in known.refused if count.hour > int(now) // HOUR - 24]
        return board.page(
            visit,
            "overview.html",
            cards=_cards(known, lately, int(now) // DAY),
            alerts=alerts(figures, maker.verified, known.accounts, known.totals, lately, known.summed.problem),
            chart=sales_chart(known.summed, int(now)),
            reasons=_reasons(known.refused, lately),
            refused_accounts=_accounts(known.refused),
            head=known.head,
            verified=maker.verified,
            figures=figures,
            is_running=maker.is_running,
            problem=maker.problem,
        )

    async def renew(visit: Visit) -> Response:
        board.figures.renew()
        await board.ask(lambda: board.figures.wait(SOON))
        board.note(visit, "renew")
        return redirect("/policies" if visit.form.get("page") == "policies" else "")

    return [visits.get("", overview), visits.post("/renew", renew)]


def _known(board: Board, since: int) -> Known:
    service = board.service
    ledger = service.provider.ledger
    return Known(
        service.accounts.list(), ledger.totals(), ledger.head(), board.sales.now(), board.refusals.since(since)
    )


def _cards(known: Known, lately: Sequence[RefusalCount], today: int) -> list[Card]:
    sold, of_today = known.summed.total(), known.summed.on(today)
    reasons = by_reason(lately)
    away = reasons["unauthorized"] + reasons["rate_limited"]
    clients = [account for account in known.accounts if account.role == "client" and not account.revoked]
    return [
        Card("Sold today", f"{of_today.purchases:,}", f"{credits_words(of_today.spent)}, since 00:00 UTC"),
        Card("Sold in all", f"{sold.purchases:,}", credits_words(sold.spent)),
        Card("Refused in 24 h", f"{reasons.total() - away:,}", "quotes and purchases"),
        Card("Turned away in 24 h", f"{away:,}", "401 and 429", bool(away)),
        Card("Clients", f"{len(clients):,}", f"{counted(len(known.totals), 'buyer')} in the ledger"),
    ]


def _reasons(refused: Sequence[RefusalCount], lately: Sequence[RefusalCount]) -> list[tuple[str, int, int]]:
    day = by_reason(lately)
    return [(reason, day[reason], count) for reason, count in by_reason(refused).most_common()]


def _accounts(refused: Sequence[RefusalCount]) -> list[tuple[str, int, str]]:
    """Who was refused most: how often, and mostly why."""
    found = sorted(by_account(refused).items(), key=lambda one: -one[1].total())
    return [(account, reasons.total(), reasons.most_common(1)[0][0]) for account, reasons in found[:10]]
