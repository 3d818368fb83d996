"""`pacas leak`: what free quotes tell about the people in a provider's own table."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from pacas.cli.data_options import EngineOption, MasterOption, MemoryOption, opened_engine
from pacas.cli.opened_provider import open_provider, read_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json, printable, progress
from pacas.core.query import MAIN
from pacas.engine.choosing import EngineChoice
from pacas.provider.leak import AttributeLeak, measure_leaks

BAR = 40
"""Characters that stand for everybody."""


def command(
    provider: ProviderArgument,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Measure what free quotes tell of each sold attribute, beyond the best guess from public columns.

    An attacker who knows half of the people learns which value goes with which quotes, and guesses the others.

    Exit code 0: quotes tell nothing that chance does not explain; 1: they do.

    JSON: attributes (attribute, level, leak, interval, public_guess, ladders), quotes

    Example: pacas leak provider.toml
    """
    file = read_provider(provider)
    with opened_engine(EngineChoice(engine, master, memory).over(file.engine_choice)) as asked, progress() as tell:
        opened = open_provider(file, asked, tell)
        with closing(opened.ledger):
            tell("guessing")
            leaks = measure_leaks(opened, asked, file.scan_relations(asked)[MAIN])
    document = {"attributes": [_as_json(leak) for leak in leaks], "quotes": file.pricing.quotes}
    if json:
        print_json(document)
    else:
        _print(leaks, file.pricing.quotes)
    raise typer.Exit(1 if any(leak.is_told for leak in leaks) else 0)


def _as_json(leak: AttributeLeak) -> dict[str, Any]:
    return {
        "attribute": leak.attribute,
        "level": leak.level,
        "leak": round(leak.leak, 6),
        "interval": [round(end, 6) for end in leak.interval],
        "public_guess": round(leak.public_guess, 6),
        "ladders": leak.ladders,
    }


def _print(leaks: list[AttributeLeak], quotes: str) -> None:
    table = Table(box=None, pad_edge=False)
    for head in ("attribute", "level", "public guess", "with quotes", "leak", "95 %", "ladders"):
        table.add_column(head, justify="left" if head == "attribute" else "right")
    table.add_column("who is guessed right")
    for leak in leaks:
        low, high = leak.interval
        table.add_row(
            printable(leak.attribute),
            str(leak.level),
            f"{leak.public_guess:.1%}",
            f"{leak.public_guess + leak.leak:.1%}",
            Text(f"{leak.leak:+.1%}", style="red" if leak.is_told else "green"),
            f"{low:+.1%} to {high:+.1%}",
            f"{leak.ladders:,}",
            _bar(leak),
        )
    out.print(table)
    if quotes == "sealed":
        out.print("sealed quotes: prices and refusals follow from public columns alone, so there is nothing to tell")
    elif any(leak.is_told for leak in leaks):
        out.print(Text('free quotes tell people\'s values; quotes = "sealed" in [pricing] ends that', style="red"))


def _bar(leak: AttributeLeak) -> Text:
    """Whom a public guess gets right, and whom quotes add."""
    public = round(leak.public_guess * BAR)
    more = max(round((leak.public_guess + leak.leak) * BAR) - public, 0)
    rest = BAR - public - more
    return Text.assemble(("█" * public, "dim"), ("█" * more, "red"), ("░" * rest, "dim"))
