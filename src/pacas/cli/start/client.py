"""`pacas init client`: a client's file to start from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from pacas.cli.clean.choices import check_budget
from pacas.cli.data_options import (
    AnyData,
    EngineOption,
    KeyOption,
    MasterOption,
    MemoryOption,
    opened_engine,
    reads_a_table,
)
from pacas.cli.market.named_provider import NamedProvider
from pacas.cli.options import (
    CaOption,
    CertKeyOption,
    CertOption,
    HowToReach,
    InsecureOption,
    Json,
    TokenOption,
    is_url,
    out,
    print_json,
    printable,
)
from pacas.cli.plain_table import plain_table
from pacas.cli.start.choices import AskOption, Choices, choices
from pacas.cli.start.client_draft import ClientDraft
from pacas.cli.start.consulted import ConsultedProvider, consulted
from pacas.client.outcome.cleaning import Cleaning
from pacas.core.money import credits_words
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import RelationFile, RelationFolder, Source
from pacas.formats.client_file import read_client_file
from pacas.formats.relations.relations import AS_IT_IS, Reading, locate
from pacas.formats.starters.client_starter import ClientStarter
from pacas.formats.starters.lines import StarterLine
from pacas.formats.starters.new_files import check_new, write_new
from pacas.suggest.coded_table import CodedTable


@reads_a_table
def command(
    data: AnyData,
    provider: Annotated[
        str | None, typer.Option(metavar="PROVIDER", help="Whom to buy from: a provider's file, or its URL.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; it must not be there yet.")
    ] = Path("client.toml"),
    ask: AskOption = False,
    token: TokenOption = None,
    ca: CaOption = None,
    cert: CertOption = None,
    cert_key: CertKeyOption = None,
    insecure: InsecureOption = False,
    key: KeyOption = None,
    reading: Reading = AS_IT_IS,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Write a client.toml to start from: what the table says of itself, each line with its reasons.

    Dependencies that the provider publishes come first, then those that the table strongly suggests; weak ones are
    comments. With a provider it says, too, which columns are which, and a budget by a dry run, in which nothing is
    paid. Nothing is ever written over.

    JSON: output, fds (fd, why, on), columns (own, provider: null where it is another one), provider, budget, keys,
    dry_run (null, or spent, purchases)

    Example: pacas init client mine.csv
    """
    check_new([output])
    reach = None if provider is None else NamedProvider(provider, HowToReach(token, ca, cert, cert_key, insecure))
    choice = EngineChoice(engine, master, memory)
    asking = choices(ask)
    with opened_engine(choice) as asked, _consulted(reach) as found, asking.progress() as tell:
        source = locate(data, Path(), key or (), asked, reading)
        tell(f"reading {data}")
        table = CodedTable.read(asked, source)
        tell("looking for dependencies")
        draft = ClientDraft(table, found, asking)
        tell("trying what would be bought")
        plan = draft.dry_run(source, asked)
    budget = _budget(plan, asking)
    head = [
        *table_lines(data, source, output, key, reading, engine, master, memory),
        *_bought(provider, output, budget, plan),
    ]
    starter = ClientStarter(
        table.name,
        head,
        draft.dependencies.lines,
        draft.suggested.keys,
        draft.columns.lines(),
        draft.hierarchy_lines(),
        draft.send_lines() if provider is not None and is_url(provider) and plan is not None else (),
        _notes(draft, table),
    )
    write_new({output: starter.text().encode()})
    read_client_file(output)
    if json:
        print_json(_as_json(output, draft, provider, budget, plan))
    else:
        _print(output, draft, budget, plan)


@contextmanager
def _consulted(reach: NamedProvider | None) -> Iterator[ConsultedProvider | None]:
    if reach is None:
        yield None
        return
    with consulted(reach) as found:
        yield found


def table_lines(
    data: str,
    source: Source,
    output: Path,
    key: Sequence[str] | None,
    reading: Reading,
    engine: str | None,
    master: str | None,
    memory: str | None,
) -> Iterator[StarterLine]:
    """What names the table, and the engine that reads it, as they were given."""
    is_here = isinstance(source, RelationFile | RelationFolder)
    yield StarterLine.key("data", relative_to(data, output) if is_here else data)
    read_as = {"encoding": reading.encoding, "null": list(reading.nulls), "sheet": reading.sheet}
    given = {**read_as, "key": key, "engine": engine, "master": master, "memory": memory}
    yield from (StarterLine.key(name, value) for name, value in given.items() if value)


def relative_to(file: str, output: Path) -> str:
    """A file as it is named from beside another one."""
    return Path(os.path.relpath(file, output.parent)).as_posix()


def _budget(plan: Cleaning | None, asking: Choices) -> float | None:
    """What a dry run would spend, and somewhat more: answers may be others than it supposes."""
    if plan is None:
        return None
    question = f"What may all values together cost? A dry run would spend {plan.spent:g} credits"
    return asking.number(question, _a_little_more(plan.spent), check_budget)


def _a_little_more(amount: float) -> float:
    """A tenth more, in two digits that count.

    >>> _a_little_more(0.1234), _a_little_more(17.0)
    (0.14, 19.0)
    """
    return float(f"{amount * 1.1:.1e}")


def _bought(provider: str | None, output: Path, budget: float | None, plan: Cleaning | None) -> Iterator[StarterLine]:
    """The provider and the budget; as comments where there is nothing to buy."""
    if provider is None:
        return
    named = provider if is_url(provider) else relative_to(provider, output)
    if budget is None or plan is None:
        yield StarterLine.key("provider", named, "it sells nothing that a dependency here is about", is_on=False)
        return
    yield StarterLine.key("provider", named, "whom to buy from; --provider goes before it")
    yield StarterLine.key("budget", budget, f"in credits; {_foreseen(plan)}")


def _foreseen(plan: Cleaning) -> str:
    """What a dry run would spend, and what that is expected to bring."""
    spent = f"a dry run spends {credits_words(plan.spent_nanocredits)} on {counted(len(plan.purchases), 'value')}"
    weighing = plan.weighing
    if weighing is None or not weighing.promised:
        return spent
    first, last, knee = weighing.promised[0][1], weighing.promised[-1][1], weighing.knee
    soon = "" if knee is None or knee[1] <= last else f", {knee[1]:,.1f} after the first {credits_words(knee[0])}"
    return f"{spent}; expected error: {first:,.1f} bits with no money{soon}, {last:,.1f} after all"


def _notes(draft: ClientDraft, table: CodedTable) -> list[str]:
    notes = []
    if table.is_sample:
        notes.append(f"{table.rows:,} of {table.of:,} rows were looked at.")
    if not draft.dependencies.fds:
        notes.append("Nothing was found that surely holds: turn on what you know to be true below, or add it.")
    return notes


def _as_json(
    output: Path, draft: ClientDraft, provider: str | None, budget: float | None, plan: Cleaning | None
) -> dict[str, Any]:
    return {
        "output": str(output),
        "fds": draft.dependencies.as_json(),
        "columns": [{"own": own, "provider": theirs} for own, theirs in draft.columns.columns().items()],
        "provider": provider,
        "budget": budget,
        "keys": list(draft.suggested.keys),
        "dry_run": None if plan is None else {"spent": plan.spent, "purchases": len(plan.purchases)},
    }


def _print(output: Path, draft: ClientDraft, budget: float | None, plan: Cleaning | None) -> None:
    found = plain_table("holds", "because")
    for one in draft.dependencies.as_json():
        if one["on"]:
            found.add_row(printable(one["fd"]), printable(one["why"]))
    if draft.dependencies.fds:
        out.print(found)
        out.print()
    columns = draft.columns.columns()
    mapped = f", {counted(len(columns), 'column')} of other names" if columns else ""
    mentioned = len(draft.dependencies.lines) - len(draft.dependencies.fds)
    holds = counted(len(draft.dependencies.fds), "dependency", "dependencies")
    out.print(f"{output} written: {holds}{mapped}; {mentioned:,} more to judge, as comments.")
    if plan is not None:
        out.print(f"{_foreseen(plan)[0].upper()}{_foreseen(plan)[1:]}.")
    if draft.dependencies.fds and draft.repairs_nothing and mentioned and not (plan and plan.purchases):
        out.print("All that counts holds already, so that a cleaning changes nothing: first look at what are comments.")
    if draft.dependencies.fds:
        out.print(f"Next: pacas clean {output}")
    else:
        out.print("Nothing surely holds in it: turn on what you know to be true, then pacas clean it.")
