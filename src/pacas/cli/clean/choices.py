"""The options that `pacas clean` and `pacas review` share: how to clean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.market.named_panel import NamedPanel
from pacas.cli.market.named_provider import NamedProvider
from pacas.cli.options import takes
from pacas.core.money import nanocredits
from pacas.errors import InputError
from pacas.formats.cells_file import CellsFile
from pacas.formats.client_file import ClientFile

ClientArgument = Annotated[
    Path, typer.Argument(metavar="CLIENT.toml", help="The client's file: table and dependencies.")
]
ProvidersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        metavar="PROVIDER",
        help="The provider's file or URL; repeat for several, NAME=PROVIDER names one. Without, nothing is bought.",
    ),
]


@dataclass(frozen=True, slots=True)
class HowToClean:
    """How to clean, as the command line says it."""

    budget: Annotated[
        str | None, typer.Option("--budget", metavar="CREDITS", help="The most that all values together may cost.")
    ] = None
    max_level: Annotated[
        list[str] | None,
        typer.Option(
            "--max-level", metavar="LEVEL", help="The coarsest level to buy: 2 for all, or MED=2 for one; repeat."
        ),
    ] = None
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", metavar="weigh|paper", help="Own evidence first, or most errors first. (default: weigh)"
        ),
    ] = None
    careful: Annotated[
        float | None,
        typer.Option(
            "--careful", metavar="P", help="Weigh: the least probability of a repair without a purchase. (default: 0.9)"
        ),
    ] = None
    look_further: Annotated[
        bool,
        typer.Option("--look-further", help="Weigh: also, in all columns, slips and what its row makes improbable."),
    ] = False
    repair: Annotated[
        str | None,
        typer.Option(
            "--repair",
            metavar="refine|replace|ground",
            help="Paper: own evidence, or what was bought. (default: refine)",
        ),
    ] = None
    allocation: Annotated[
        str | None,
        typer.Option(
            "--allocation",
            metavar="errors|harmonic|uniform",
            help="Paper: how the budget is spread. (default: errors)",
        ),
    ] = None
    prefer: Annotated[
        str | None,
        typer.Option(
            "--prefer", metavar="finest|coarsest", help="Paper: which affordable level is bought. (default: finest)"
        ),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds", min=1, metavar="N", help="Paper: repeat for what repairs have brought up. (default: 1)"
        ),
    ] = None
    cells: Annotated[
        list[str] | None,
        typer.Option(
            "--cells",
            metavar="FILE",
            help="Cells that another tool found, too, by row or by --key; ATTR=FILE: failed rows of a column; repeat.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the table goes; else NAME.clean.csv beside it."),
    ] = None

    @property
    def found(self) -> list[CellsFile]:
        """The lists of cells that other tools have found."""
        return [CellsFile.parse(text) for text in self.cells or ()]


AS_USUAL = HowToClean()
says_how_to_clean = takes("how", HowToClean)
"""A command with all these options, where it takes a `how`."""


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


def check_budget(budget: str) -> None:
    if nanocredits(budget, "--budget") < 0:
        raise InputError(f"--budget must not be negative, and {budget} is")
