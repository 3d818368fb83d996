"""Accounts: who may ask, what each may spend and has spent, and how often it may ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from pacas.console.alerts import NEARLY
from pacas.console.board import Board
from pacas.console.refusal_counts import by_account
from pacas.console.visits import Visit, Visits, redirect
from pacas.core.money import credits_words, not_negative
from pacas.core.rates.tab import Tab
from pacas.errors import InputError
from pacas.pages.pieces import Bar
from pacas.pages.typed_number import typed_number
from pacas.provider.ledger.accounts import Account, Role, check_credit, check_rate, new_token, token_hash
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.refusals import HOUR


class AccountShown(NamedTuple):
    """An account, what it has bought, and how often it was refused in the last day."""

    account: Account
    total: Total
    share: Bar | None
    """Of its credit that is spent."""
    is_nearly_spent: bool
    refused: int
    tab: Tab
    """What its purchases cost by the list, and its own terms."""


class NewToken(NamedTuple):
    """An account that was just made, and its token, which is shown this once."""

    name: str
    role: str
    token: str

    def __repr__(self) -> str:
        return f"NewToken({self.name!r})"


def routes(board: Board, visits: Visits) -> list[Route]:
    accounts = board.service.accounts

    async def listed(visit: Visit) -> Response:
        return await _page(board, visit)

    async def add(visit: Visit) -> Response:
        token, form = new_token(), visit.form
        role = Role.OPERATOR if form.get("role") == Role.OPERATOR else Role.CLIENT
        account = Account(
            form.get("name", "").strip(),
            role,
            _amount(form.get("credit", "")),
            False,
            token_hash(token),
            _rate(form.get("rate", "")),
        )
        await board.ask(lambda: accounts.add(account))
        board.note(visit, "add account", about=account.name, role=role.value)
        return await _page(board, visit, NewToken(account.name, role.value, token))

    async def changed(visit: Visit, done: str, change: Callable[[str], None], said: str) -> Response:
        name = visit.form.get("name", "")
        await board.ask(lambda: change(name))
        board.note(visit, done, about=name)
        visit.session.say(f"{name} {said}.")
        return redirect("/accounts")

    async def credit(visit: Visit) -> Response:
        amount = _amount(visit.form.get("credit", ""))
        said = "without a limit" if amount is None else f"{credits_words(amount)} in all"
        change = partial(accounts.set_credit, credit=amount)
        return await changed(visit, "set credit", change, f"may now spend {said}")

    async def rate(visit: Visit) -> Response:
        tuples = _rate(visit.form.get("rate", ""))
        said = "as many tuples as everybody" if tuples is None else f"{tuples:,} tuples a minute"
        change = partial(accounts.set_rate, quotes_per_minute=tuples)
        return await changed(visit, "set rate", change, f"may now ask about {said}")

    async def revoke(visit: Visit) -> Response:
        return await changed(visit, "revoke", accounts.revoke, "is revoked: its token counts no longer")

    return [
        visits.get("/accounts", listed),
        visits.post("/accounts/add", add),
        visits.post("/accounts/credit", credit),
        visits.post("/accounts/rate", rate),
        visits.post("/accounts/revoke", revoke),
    ]


async def _page(board: Board, visit: Visit, made: NewToken | None = None) -> Response:
    hour, provider = int(board.clock()) // HOUR, board.service.provider
    found, offers, totals, lately = await board.ask(
        lambda: (
            board.service.accounts.list(),
            [one for one in board.service.offers.list() if one.is_open(board.clock())],
            provider.ledger.totals(),
            by_account(board.refusals.since(hour - 23)),
        )
    )
    shown = [
        _shown(
            account,
            totals.get(account.name, Total()),
            lately[account.name].total() if account.name in lately else 0,
            provider.till.tab(account.name),
        )
        for account in found
    ]
    known = {account.name for account in found}
    return board.page(
        visit,
        "accounts.html",
        accounts=[one for one in shown if not one.account.revoked],
        revoked=[one for one in shown if one.account.revoked],
        others=[(name, total) for name, total in totals.items() if name not in known],
        everybody=board.service.settings.quotes_per_minute,
        made=made,
        offers=offers,
        standing=provider.till.schedule,
        rates=None if provider.till.schedule.is_flat else provider.till.schedule.words(),
    )


def _shown(account: Account, total: Total, refused: int, tab: Tab) -> AccountShown:
    share = None if not account.credit else Bar(min(1.0, total.spent / account.credit))
    return AccountShown(account, total, share, share is not None and share.share >= NEARLY, refused, tab)


def _amount(text: str) -> int | None:
    """A credit as it was typed; nothing is no limit."""
    if not text.strip():
        return None
    check_credit(credit := not_negative(text.strip(), "the credit"))
    return credit


def _rate(text: str) -> int | None:
    """A rate as it was typed; nothing is that of the service."""
    if not text.strip():
        return None
    if (rate := typed_number(text)) is None:
        raise InputError("the rate must be a whole number of tuples a minute; leave it empty for that of the service")
    check_rate(rate)
    return rate
