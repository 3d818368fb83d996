"""`pacas leak`: what free quotes and dependencies tell about the people in a provider's own table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.opened_provider import opened_unsold, read_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json, printable, progress
from pacas.cli.plain_table import plain_table
from pacas.cli.provider.findings import guessed_as_json, leak_as_json
from pacas.core.query import MAIN
from pacas.engine.choosing import EngineChoice
from pacas.experiments.plots.leaks import MeasuredLeaks, picture_leaks
from pacas.experiments.plots.picture import check_picture
from pacas.provider.leak.guessing import GuessedMore
from pacas.provider.leak.meter import AttributeLeak, DependencyLeak, LeakMeter
from pacas.provider.quote_mode import QuoteMode

BAR = 40
"""Characters that stand for everybody."""
SEALED = (
    "Sealed: prices and refusals follow from public columns and the buyer's own purchases, so that quotes tell nothing."
)
PAPER = "The paper's prices and refusals follow from people's values, and tell them to whoever asks."
NOT_HERE = "of these people they tell no more than chance explains, which with few people is little to go by"
ENDS_IT = 'quotes = "sealed" in [pricing] ends what free quotes tell'
PAID = "what a declared dependency implies is paid for and kept back with its left side, so that no X-group falls short"
MEND = "X-groups fall short of what their policy asks for; pacas lint says what mends that"


@chooses_an_engine
def command(
    provider: ProviderArgument,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw it: leak.svg, leak.png or leak.html.")
    ] = None,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Measure what free quotes tell of each sold attribute, beyond the best guess from public columns.

    An attacker who knows half of the people learns which value goes with which quotes, and guesses the others. The
    same is measured for dependencies that tell a protected attribute: those that are declared, and those that pacas
    lint finds. What was sold before does not count, and no ledger is opened.

    Exit code 0: quotes tell nothing that chance does not explain; 1: they do.

    JSON: attributes (attribute, level, leak, interval, public_guess, ladders, why), dependencies (fd, level,
    right_level, declared, leak, interval, public_guess, groups, broken_groups), quotes, rows, why; picture, if drawn

    Example: pacas leak provider.toml
    """
    if picture is not None:
        check_picture(picture)
    file = read_provider(provider)
    with opened_unsold(file, engine) as (opened, asked), progress() as tell:
        tell("guessing people's values")
        meter = LeakMeter(opened, asked, file.scan_relations(asked)[MAIN])
        quotes = opened.shop.terms.quotes
        why = SEALED if quotes is QuoteMode.SEALED else PAPER
        found = MeasuredLeaks(file.path.name, meter.attributes(), meter.dependencies(), why)
    if picture is not None:
        picture_leaks(picture, found)
    if json:
        print_json(_as_json(found, quotes, meter.rows, picture))
    else:
        _print(found, quotes)
    raise typer.Exit(1 if any(one.guessed.is_told for one in found.attributes) else 0)


def _as_json(found: MeasuredLeaks, quotes: QuoteMode, rows: int, picture: Path | None) -> dict[str, Any]:
    return {
        "attributes": [leak_as_json(one) for one in found.attributes],
        "dependencies": [_dependency(one) for one in found.dependencies],
        "quotes": quotes.value,
        "rows": rows,
        "why": found.why,
        **({} if picture is None else {"picture": str(picture)}),
    }


def _dependency(found: DependencyLeak) -> dict[str, Any]:
    dependency = found.dependency
    return {
        "fd": str(dependency.fd),
        "level": dependency.level,
        "right_level": dependency.right_level,
        "declared": dependency.is_declared,
        **guessed_as_json(found.guessed),
        "groups": None if found.broken is None else found.groups,
        "broken_groups": found.broken,
    }


# ---- for people ----------------------------------------------------------------------------------------------------


def _print(found: MeasuredLeaks, quotes: QuoteMode) -> None:
    _print_attributes(found.attributes)
    is_told = any(one.guessed.is_told for one in found.attributes)
    out.print(Text(found.why, style="green" if quotes is QuoteMode.SEALED else "red"))
    if is_told:
        out.print(Text(ENDS_IT, style="red"))
    elif quotes is QuoteMode.PAPER:
        out.print(NOT_HERE)
    if found.dependencies:
        out.print()
        _print_dependencies(found.dependencies)
        if any(one.dependency.is_declared for one in found.dependencies):
            out.print(PAID)
        if any(one.broken for one in found.dependencies):
            out.print(Text(MEND, style="red"))


def _print_attributes(leaks: Sequence[AttributeLeak]) -> None:
    table = _table("attribute", "level", "public guess", "with quotes", "leak", "95 %", "ladders")
    for leak in leaks:
        row = _figures(leak.guessed, is_bad=leak.guessed.is_told)
        table.add_row(printable(leak.attribute), str(leak.level), *row, f"{leak.ladders:,}", _bar(leak.guessed, "red"))
    out.print(table)


def _print_dependencies(leaks: Sequence[DependencyLeak]) -> None:
    table = _table("dependency", "", "public guess", "with left side", "more", "95 %", "X-groups short")
    for leak in leaks:
        told = leak.dependency
        declared = "declared" if told.is_declared else Text("not declared", style="red")
        counted = "not counted" if leak.broken is None else f"{leak.broken:,} of {leak.groups:,}"
        short = Text(counted, style="red" if leak.broken else "green")
        row = _figures(leak.guessed, is_bad=bool(leak.broken))
        table.add_row(printable(str(told.fd)), declared, *row, short, _bar(leak.guessed, "yellow"))
    out.print(table)


def _table(first: str, *heads: str) -> Table:
    return plain_table(first, *heads, "who is guessed right", numbers=heads)


def _figures(guessed: GuessedMore, *, is_bad: bool) -> tuple[str, str, Text, str]:
    low, high = guessed.interval
    return (
        f"{guessed.public_guess:.1%}",
        f"{guessed.public_guess + guessed.leak:.1%}",
        Text(f"{guessed.leak:+.1%}", style="red" if is_bad else "green"),
        f"{low:+.1%} to {high:+.1%}",
    )


def _bar(guessed: GuessedMore, colour: str) -> Text:
    """Whom a public guess gets right, and whom the clue adds."""
    public = round(guessed.public_guess * BAR)
    more = max(round((guessed.public_guess + guessed.leak) * BAR) - public, 0)
    rest = BAR - public - more
    return Text.assemble(("█" * public, "dim"), ("█" * more, colour), ("░" * rest, "dim"))
