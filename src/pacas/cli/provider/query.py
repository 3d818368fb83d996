"""`pacas query`: a provider asks its own relations a generalized query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.data_options import UNSAID, chooses_an_engine, opened_engine
from pacas.cli.options import Json, out, print_json, printable, progress
from pacas.cli.plain_table import plain_table
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.engine.questions import answer
from pacas.formats.provider.provider_file import read_provider_file


@chooses_an_engine
def command(
    provider: Annotated[Path, typer.Argument(metavar="PROVIDER.toml", help="The provider's file.")],
    select: Annotated[str, typer.Option(metavar="'GEN:0, MED:1'", help="Output columns, each with its level.")],
    where: Annotated[str, typer.Option(metavar="'DIAG = migraine'", help="Comparisons, joined by 'and'.")] = "",
    from_: Annotated[
        str, typer.Option("--from", metavar="'relation, doctors d'", help="Relations; also with 'join … on …'.")
    ] = MAIN,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Answer a generalized query over the provider's relations: the provider's own tool.

    JSON: answers (a list per answer, one value per output column)

    Example: pacas query provider.toml --select "GEN:0, MED:1" --where "DIAG = migraine"
    """
    query = GeneralizedQuery.parse(select, where, from_)
    file = read_provider_file(provider)
    choice = engine.over(file.engine_choice)
    with opened_engine(choice) as asked, progress() as tell:
        tell(f"reading {provider.name}")
        relations = file.scan_relations(asked)
        wanted = (column.attribute for column in query.columns())
        hierarchies = file.read_hierarchies(relations[MAIN], asked, wanted)
        tell("answering")
        answers = answer(query, relations, hierarchies, engine=asked)
    if json:
        print_json({"answers": answers})
        return
    table = plain_table(*(printable(f"{o.column}:{o.level}") for o in query.outputs))
    for row in answers:
        table.add_row(*map(printable, row))
    out.print(table)
    out.print(counted(len(answers), "answer"))
