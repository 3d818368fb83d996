"""`pacas query`: a provider asks its own relations a generalized query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pacas.cli.options import Json, out, print_json, progress
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.questions import answer
from pacas.formats.provider_file import read_provider_file


def command(
    provider: Annotated[Path, typer.Argument(metavar="PROVIDER.toml", help="The provider's file.")],
    select: Annotated[str, typer.Option(metavar="'GEN:0, MED:1'", help="Output columns, each with its level.")],
    where: Annotated[str, typer.Option(metavar="'DIAG = migraine'", help="Comparisons, joined by 'and'.")] = "",
    from_: Annotated[
        str, typer.Option("--from", help="Relations: 'relation, doctors d', or with 'join … on …'.")
    ] = MAIN,
    json: Json = False,
) -> None:
    """Answer a generalized query over the provider's relations: the provider's own tool.

    Example: pacas query provider.toml --select "GEN:0, MED:1" --where "DIAG = migraine"
    """
    query = GeneralizedQuery.parse(select, where, from_)
    with progress() as tell:
        tell(f"reading {provider.name}")
        file = read_provider_file(provider)
        hierarchies = file.read_hierarchies(o.column.attribute for o in query.outputs)
        tell("answering")
        answers = answer(query, file.scan_relations(), hierarchies)
    if json:
        print_json({"answers": answers})
        return
    table = Table(*(f"{o.column}:{o.level}" for o in query.outputs), box=None, pad_edge=False)
    for row in answers:
        table.add_row(*("" if value is None else value for value in row))
    out.print(table)
    out.print(f"{len(answers):,} answers")
