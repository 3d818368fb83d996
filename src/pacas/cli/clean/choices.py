"""The options that `pacas clean` and `pacas review` share: how to clean, and with whose values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.clean.job import check_budget
from pacas.cli.market.named_panel import NamedPanel, named_panel, providers_named
from pacas.cli.market.named_provider import NamedProvider, check_receipts
from pacas.core.money import nanocredits
from pacas.errors import InputError
from pacas.formats.client_file import ClientFile

ClientArgument = Annotated[
    Path, typer.Argument(metavar="CLIENT.toml", help="The client's file: table and dependencies.")
]
ProviderOption = Annotated[
    str | None,
    typer.Option("--provider", metavar="PROVIDER", help="The provider's file or URL. Without one nothing is bought."),
]
ProvidersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        metavar="PROVIDER",
        help="The provider's file or URL; repeat for several, NAME=PROVIDER names one. Without, nothing is bought.",
    ),
]
BudgetOption = Annotated[
    str | None, typer.Option("--budget", metavar="CREDITS", help="The most that all values together may cost.")
]
MaxLevelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--max-level", metavar="LEVEL", help="The coarsest level to buy: 2 for all, or MED=2 for one; repeat."
    ),
]
StrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy", metavar="weigh|paper", help="Own evidence first, or most errors first. (default: weigh)"
    ),
]
CarefulOption = Annotated[
    float | None,
    typer.Option(
        "--careful", metavar="P", help="Weigh: the least probability of a repair without a purchase. (default: 0.9)"
    ),
]
LookFurtherOption = Annotated[
    bool, typer.Option("--look-further", help="Weigh: also rare values that no dependency contradicts.")
]
RepairOption = Annotated[
    str | None,
    typer.Option(
        "--repair",
        metavar="refine|replace|ground",
        help="Paper: own evidence, or what was bought. (default: refine)",
    ),
]
AllocationOption = Annotated[
    str | None,
    typer.Option(
        "--allocation",
        metavar="errors|harmonic|uniform",
        help="Paper: how the budget is spread. (default: errors)",
    ),
]
PreferOption = Annotated[
    str | None,
    typer.Option(
        "--prefer", metavar="finest|coarsest", help="Paper: which affordable level is bought. (default: finest)"
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option("--rounds", min=1, metavar="N", help="Paper: repeat for what repairs have brought up. (default: 1)"),
]
CellsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cells",
        metavar="FILE",
        help="Cells that another tool found, too; ATTR=FILE: failed rows of a column; repeat.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where the table goes; else NAME.clean.csv beside it."),
]


def whom_to_ask(
    given: Sequence[str] | None,
    file: ClientFile,
    buyer: str | None,
    token: str | None,
    ca: Path | None,
    cert: Path | None,
    cert_key: Path | None,
    insecure: bool,
    receipts: Path | None,
) -> NamedProvider | NamedPanel | None:
    """One provider, or several by name; the command line's go before those of the client's file."""
    named = providers_named(given) if given else file.providers_named
    if len(named) > 1:
        panel = named_panel(named, buyer, token, ca, cert, cert_key, insecure, receipts)
        return NamedPanel({name: replace(member, send=file.send) for name, member in panel.members.items()})
    one = next(iter(named.values()), file.provider_named)
    reach = named_provider(one, buyer, token, ca, cert, cert_key, insecure, receipts)
    return None if reach is None else replace(reach, send=file.send)


def named_provider(
    provider: str | None,
    buyer: str | None,
    token: str | None,
    ca: Path | None,
    cert: Path | None,
    cert_key: Path | None,
    insecure: bool,
    receipts: Path | None,
) -> NamedProvider | None:
    """The provider that is to be bought from; None where nothing is."""
    if provider is None:
        _check_alone({"--as": buyer, "--receipts": receipts, "--ca": ca, "--cert": cert, "--cert-key": cert_key})
        return None
    reach = NamedProvider(provider, buyer, token, ca, cert, cert_key, insecure)
    check_receipts(reach.provider, receipts)
    return reach


def _check_alone(given: Mapping[str, object]) -> None:
    """Raise where something is said of a provider, and there is none."""
    for option, value in given.items():
        if value:
            raise InputError(f"{option} is about buying, and there is no provider; give --provider")


def budget_of(given: str | None, file: ClientFile, reach: NamedProvider | NamedPanel | None) -> str | None:
    """The credits of the command line, else of the client's file; without a provider there is nothing to pay."""
    asked = given if given is not None or file.budget is None else str(file.budget)
    if reach is None:
        if given is not None:
            check_budget(given)
            if nanocredits(given, "--budget"):
                raise InputError("--budget is for buying, and there is no provider; give --provider")
        return "0"
    return asked
