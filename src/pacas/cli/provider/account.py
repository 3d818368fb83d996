"""`pacas account`: who may ask a served provider, and how much each may spend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated, Any

import typer

from pacas.cli.opened_provider import read_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json, printable, show_help
from pacas.cli.plain_table import plain_table
from pacas.core.money import in_credits, nanocredits, rounded_text
from pacas.errors import ConfigError, InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.provider.ledger.accounts import Account, Accounts, Role, check_credit, new_token, token_hash
from pacas.provider.ledger.chain import Total
from pacas.storage.url import ledger_kind, open_accounts, open_ledger

app = typer.Typer()

NO_LIMIT = "none"
Name = Annotated[str, typer.Argument(metavar="NAME", help="The account, and the buyer's name in the ledger.")]


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Accounts of a provider's service: who may ask, and how much each may spend.

    Example: pacas account list provider.toml
    """
    show_help(context)


@app.command("add")
def add(
    name: Name,
    provider: ProviderArgument,
    credit: Annotated[
        str | None, typer.Option(metavar="CREDITS", help="What it may spend in all; without it, no limit.")
    ] = None,
    role: Annotated[
        Role, typer.Option(help="A client buys; an operator sees accounts and metrics, and does not buy.")
    ] = Role.CLIENT,
    json: Json = False,
) -> None:
    """Add an account and show its token, once: only a hash of it is kept.

    An account that was revoked gets a new token in this way, and keeps what it has bought.

    JSON: account, token, role, credit

    Example: pacas account add ann provider.toml --credit 10
    """
    amount = None if credit is None else _amount(credit, "--credit")
    token = new_token()
    account = Account(name, role, amount, False, token_hash(token))
    with _accounts(_kept(provider)) as accounts:
        accounts.add(account)
    if json:
        print_json({"account": name, "token": token, "role": role.value, "credit": _credit(amount)})
    else:
        out.print(f"{printable(name)}: a {role.value}, {_in_words(amount)}")
        out.print(f"token: {token}", soft_wrap=True)  # in one piece, however narrow the terminal
        out.print("It is shown this once, and cannot be shown again; a client gives it with --token or PACAS_TOKEN.")


@app.command("list")
def list_(provider: ProviderArgument, json: Json = False) -> None:
    """List the accounts, what each may spend and has spent.

    JSON: accounts (account, role, credit or null for no limit, spent, purchases, revoked)

    Example: pacas account list provider.toml
    """
    file = _kept(provider)
    with _accounts(file) as accounts:
        found = accounts.list()
    with closing(open_ledger(file.ledger_url, file.folder)) as ledger:
        totals = ledger.totals()
    bought = [(account, totals.get(account.name, Total())) for account in found]
    if json:
        print_json({"accounts": [_as_json(account, total) for account, total in bought]})
    elif bought:
        _print(bought)
    else:
        out.print("no accounts; pacas account add makes one")


@app.command("revoke")
def revoke(name: Name, provider: ProviderArgument, json: Json = False) -> None:
    """Let an account's token count no longer. What it has bought stays in the ledger.

    JSON: account, revoked

    Example: pacas account revoke ann provider.toml
    """
    with _accounts(_kept(provider)) as accounts:
        accounts.revoke(name)
    if json:
        print_json({"account": name, "revoked": True})
    else:
        out.print(f"{printable(name)}: revoked; pacas account add gives it a new token")


@app.command("credit")
def credit(
    name: Name,
    provider: ProviderArgument,
    amount: Annotated[
        str, typer.Argument(metavar="CREDITS", help="What it may spend in all, with what it has spent; none: no limit.")
    ],
    json: Json = False,
) -> None:
    """Set what an account may spend in all, what it has spent already included.

    JSON: account, credit (null for no limit)

    Example: pacas account credit ann provider.toml 20
    """
    limit = None if amount.lower() == NO_LIMIT else _amount(amount, "CREDITS")
    with _accounts(_kept(provider)) as accounts:
        accounts.set_credit(name, limit)
    if json:
        print_json({"account": name, "credit": _credit(limit)})
    else:
        out.print(f"{printable(name)}: {_in_words(limit)}")


def _kept(provider: str) -> ProviderFile:
    """The provider's file, if it names a ledger that accounts can be kept with."""
    file = read_provider(provider)
    if ledger_kind(file.ledger_url) == "memory":
        raise ConfigError("ledger.url: a ledger in memory keeps no accounts; name a file or a database")
    return file


@contextmanager
def _accounts(file: ProviderFile) -> Iterator[Accounts]:
    with closing(open_accounts(file.ledger_url, file.folder)) as accounts:
        yield accounts


def _amount(given: str, what: str) -> int:
    amount = nanocredits(given, what)
    if amount < 0:
        raise InputError(f"{what} must not be negative; 0 buys what is free")
    check_credit(amount)
    return amount


def _credit(amount: int | None) -> float | None:
    return None if amount is None else in_credits(amount)


def _in_words(amount: int | None) -> str:
    return "may spend without a limit" if amount is None else f"may spend {rounded_text(amount)} credits in all"


def _as_json(account: Account, total: Total) -> dict[str, Any]:
    return {
        "account": account.name,
        "role": account.role.value,
        "credit": _credit(account.credit),
        "spent": in_credits(total.spent),
        "purchases": total.purchases,
        "revoked": account.revoked,
    }


def _print(bought: list[tuple[Account, Total]]) -> None:
    numbers = ("credit", "spent", "purchases")
    table = plain_table("account", "role", *numbers, "", numbers=numbers)
    for account, total in bought:
        limit = "no limit" if account.credit is None else rounded_text(account.credit)
        state = "revoked" if account.revoked else ""
        spent = rounded_text(total.spent)
        table.add_row(printable(account.name), account.role.value, limit, spent, f"{total.purchases:,}", state)
    out.print(table)
