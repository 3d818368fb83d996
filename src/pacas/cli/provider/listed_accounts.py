"""An account as `pacas account list` shows it: a row for people, an object of JSON, and the terms that it accepted."""

from __future__ import annotations

from time import time
from typing import Any

from pacas.cli.options import out, printable
from pacas.cli.plain_table import plain_table
from pacas.core.money import in_credits, rounded_text
from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import Tab
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.chain import Total
from pacas.wire.connection_file import moment


def terms_as_json(tab: Tab, standing: Schedule) -> dict[str, Any] | None:
    """The terms that an account has accepted, as long as they last; money in credits."""
    agreed = tab.agreed
    if agreed is None:
        return None
    return {
        "schedule": [{"above": in_credits(s.above), "per_cent": s.rate / 100} for s in agreed.schedule.steps],
        "prepaid": in_credits(agreed.prepaid),
        "unused": in_credits(tab.unused(standing)),
        "until": None if agreed.until is None else moment(agreed.until),
    }


def account_as_json(account: Account, total: Total, tab: Tab, standing: Schedule) -> dict[str, Any]:
    return {
        "account": account.name,
        "role": account.role.value,
        "credit": None if account.credit is None else in_credits(account.credit),
        "spent": in_credits(total.spent),
        "purchases": total.purchases,
        "listed": in_credits(tab.listed),
        "terms": terms_as_json(tab, standing),
        "revoked": account.revoked,
        "quotes_per_minute": account.quotes_per_minute,
        **({} if account.expires is None else {"expires": moment(account.expires)}),
        **({} if account.certificate is None else {"certificate": account.certificate}),
    }


def _state(account: Account) -> str:
    if account.revoked or account.expires is None:
        return "revoked" if account.revoked else ""
    return f"{'expired' if account.has_expired(time()) else 'until'} {moment(account.expires)[:10]}"


def _terms_words(tab: Tab, standing: Schedule) -> str:
    agreed = tab.agreed
    if agreed is None:
        return ""
    until = "" if agreed.until is None else f" until {moment(agreed.until)[:10]}"
    left = rounded_text(tab.unused(standing))
    prepaid = f", {left} of {rounded_text(agreed.prepaid)} prepaid left" if agreed.prepaid else ""
    return f"{agreed.schedule.words()}{prepaid}{until}"


def print_accounts(bought: list[tuple[Account, Total, Tab]], standing: Schedule) -> None:
    has_rates = any(account.quotes_per_minute is not None for account, _, _ in bought)
    has_lists = any(tab.listed != total.spent or tab.agreed is not None for _, total, tab in bought)
    lists = ["list credits"] if has_lists else []
    numbers = ("credit", "spent", *lists, "purchases", *(["a minute"] if has_rates else ()))
    table = plain_table("account", "role", *numbers, *(["terms"] if has_lists else ()), "", numbers=numbers)
    for account, total, tab in bought:
        limit = "no limit" if account.credit is None else rounded_text(account.credit)
        state = _state(account)
        spent = rounded_text(total.spent)
        rate = "" if account.quotes_per_minute is None else f"{account.quotes_per_minute:,}"
        listed = [rounded_text(tab.listed)] if has_lists else []
        shown = (limit, spent, *listed, f"{total.purchases:,}", *([rate] if has_rates else ()))
        terms = [_terms_words(tab, standing)] if has_lists else []
        table.add_row(printable(account.name), account.role.value, *shown, *terms, state)
    out.print(table)
