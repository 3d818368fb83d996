"""`pacas init provider`: a provider's file to start from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from pacas.cli.data_options import (
    AnyData,
    EngineOption,
    KeyOption,
    MasterOption,
    MemoryOption,
    opened_engine,
    reads_a_table,
)
from pacas.cli.options import Json, out, print_json, printable
from pacas.cli.plain_table import plain_table
from pacas.cli.start.choices import AskOption, choices
from pacas.cli.start.client import table_lines
from pacas.cli.start.first_draft import check_share, first_draft
from pacas.cli.start.provider_draft import ProviderDraft
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import RelationFile, RelationFolder
from pacas.formats.relations.relations import AS_IT_IS, Reading, locate
from pacas.formats.starters.new_files import check_new, write_new
from pacas.formats.starters.provider_starter import SoldLine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.policies.suggesting import SHARE


@reads_a_table
def command(
    data: AnyData,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; it must not be there yet.")
    ] = Path("provider.toml"),
    share: Annotated[
        float, typer.Option("--share", metavar="S", help="The share of rows that policies are to leave for sale.")
    ] = SHARE,
    ask: AskOption = False,
    key: KeyOption = None,
    reading: Reading = AS_IT_IS,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Write a provider.toml to start from: what can be sold, how it is found, and what protects it, with reasons.

    What is sold is found by columns that tell it for sure. Where these single out a person, a policy protects it,
    with the largest k, and levels, that leave --share of the rows for sale. Hierarchies are written as files beside it.
    Where rows do not look like people, about = "things" says so. The file loads, and pacas lint has no error and no
    warning for it. Nothing is ever written over.

    JSON: output, files, sold (attribute, match, hierarchy, policy: null, or k, level, sold_from), unsold (attribute,
    why), dependencies

    Example: pacas init provider curated.csv
    """
    check_share(f"{share:g}")
    check_new([output])
    asking = choices(ask)
    with opened_engine(EngineChoice(engine, master, memory)) as asked, asking.progress() as tell:
        source = locate(data, Path(), key or (), asked, reading)
        tell(f"reading {data}")
        table = CodedTable.read(asked, source)
        tell("looking for what can be sold")
        lines = list(table_lines(data, source, output, key, reading, engine, master, memory))
        draft = first_draft(table, lines, share, asking)
        here = str(Path(data).absolute()) if isinstance(source, RelationFile | RelationFolder) else data
        draft = draft.mended(here, asked, tell)
    files = draft.files(output)
    check_new(files)
    write_new(files)
    if json:
        print_json(_as_json(output, files, draft))
    else:
        _print(output, files, draft)


def _as_json(output: Path, files: Iterable[Path], draft: ProviderDraft) -> dict[str, Any]:
    starter = draft.starter
    declared = [str(line.match.fd) for line in starter.sold if line.is_declared]
    return {
        "output": str(output),
        "files": [str(path) for path in files if path != output],
        "sold": [_sold(line) for line in starter.sold],
        "unsold": [{"attribute": name, "why": why} for name, why in starter.unsold.items()],
        "dependencies": [*declared, *map(str, starter.declared)],
    }


def _sold(line: SoldLine) -> dict[str, Any]:
    policy = line.policy
    return {
        "attribute": line.attribute,
        "match": list(line.match.columns),
        "hierarchy": line.file,
        "policy": policy
        and policy.chosen
        and {"k": policy.chosen.k, "level": policy.chosen.level, "sold_from": policy.sold_from},
    }


def _print(output: Path, files: Iterable[Path], draft: ProviderDraft) -> None:
    table = plain_table("sold", "found by", "protected", "because")
    for line in draft.starter.sold:
        policy, match = line.policy, line.match
        protected = (
            "" if policy is None or policy.chosen is None else f"k = {policy.chosen.k}, L = {policy.chosen.level}"
        )
        why = f"told in {match.tells:.1%} of {match.groups:,} groups"
        table.add_row(printable(line.attribute), printable(", ".join(match.columns)), protected, why)
    out.print(table)
    if draft.starter.unsold:
        left = plain_table("not sold", "because")
        for name, why in draft.starter.unsold.items():
            left.add_row(printable(name), printable(why))
        out.print()
        out.print(left)
    beside = len(list(files)) - 1
    out.print(f"\n{output} written, with {counted(beside, 'file')} beside it. Look it over: pacas lint {output}")
    out.print(
        f"Next: pacas serve {output}, or, in this process, pacas clean CLIENT.toml --provider {output} --budget 2"
    )
