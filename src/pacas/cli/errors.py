"""`pacas errors`: put errors into a clean table, and keep a log of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import Data, HierarchyOption, read_hierarchies, reads_a_table
from pacas.cli.options import Json, out, print_json, printable, progress
from pacas.cli.plain_table import plain_table
from pacas.core.dependency import FunctionalDependency
from pacas.core.relation import Relation
from pacas.core.words import counted
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.experiments.errors.dirty_relation import (
    DirtyRelation,
    ErrorKind,
    check_log,
    write_dirty,
    write_log,
    write_repairability,
)
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.experiments.errors.random_errors import USUAL
from pacas.experiments.errors.rates import Rate
from pacas.formats.relations.cleaned import check_output
from pacas.formats.relations.relations import AS_IT_IS, PARQUET, Reading, read_relation, scan_relation


@reads_a_table
def command(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the dirty table goes.")],
    fd: Annotated[
        list[str] | None, typer.Option("--fd", metavar="'A, B -> C'", help="A dependency to break; repeat.")
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATE",
            help="Share of tuples with an error against a dependency: 0.1, or 'A -> B=0.1', 'A -> B:lhs=0.1' for each.",
        ),
    ] = None,
    side: Annotated[
        str, typer.Option(metavar="rhs|lhs|both", help="Which side of a dependency is changed, if its rate names none.")
    ] = "rhs",
    value: Annotated[
        str,
        typer.Option(metavar="fresh|domain|both", help="What a right side gets: a new value, or one of its column."),
    ] = "both",
    random: Annotated[str, typer.Option(metavar="RATE", help="The share of further tuples with a random error.")] = "0",
    overwritten: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="The share of each dependency's groups of several rows in which a block of rows, up to all of them, "
            "gets one other value: a bad import.",
        ),
    ] = "0",
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="A kind of random errors: typo, append, drop, swap, domain, numeric (these are the default), outlier, "
            "null; repeat.",
        ),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="ATTR", help="Where random errors go; repeat. Else where a dependency is, or anywhere."),
    ] = None,
    hierarchy: HierarchyOption = None,
    non_interacting: Annotated[
        bool, typer.Option("--non-interacting", help="No two tuples with errors in one group of any dependency.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same errors.")] = 0,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write each change: row,attribute,old,new,kind.")
    ] = None,
    repairability: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write how much of the data still tells each right value: row,attribute,fd,…"
        ),
    ] = None,
    reading: Reading = AS_IT_IS,
    json: Json = False,
) -> None:
    """Put errors into a clean table: such as break dependencies, random ones, and overwritten groups.

    Errors that --rate asks for are each detectable: undoing one, with all others left in, lowers its dependency's
    number of violations. So groups of one row get none, nor do groups that violate the dependency already; at most half
    of a group is touched. Random errors and overwritten groups need not show; how many do not is said. No tuple gets
    two errors, but by blocks of two dependencies. If there is no place for as many as asked for, as many as can be are
    made, and that is said; if there is none at all, it is an error.

    JSON: rows, changed, by_kind (how many of each kind), unseen (errors in no violation), short (what, asked, made),
    left_alone (fd, groups), overwritten_whole (fd, groups), output, log, repairability

    Example: pacas errors sp.csv --fd "GEN, DIAG -> MED" --rate 0.2 --seed 1 --output dirty.csv --log changes.csv
    """
    file = scan_relation(data, encoding=reading.encoding, null=reading.nulls, sheet=reading.sheet)
    generator = ErrorGenerator(
        fd or (),
        rate=parse_rate(rate or ()),
        side=side,
        value=value,
        random_rate=_share(random, "--random"),
        overwritten=_share(overwritten, "--overwritten", of="groups"),
        kinds=kind or USUAL,
        attributes=attribute,
        hierarchies=read_hierarchies(hierarchy),
        non_interacting=non_interacting,
        seed=seed,
    )
    if not rate and not generator.random_rate and not generator.overwritten:
        raise InputError("no errors to make; give --fd with --rate 0.1 or --overwritten 0.3, or --random 0.1")
    if ErrorKind.NULL in generator.kinds and len(file.columns) == 1:
        raise InputError(f"{file.name} has one column, and a row of nothing would be no row; leave out --kind null")
    generator.check(file.columns, file.name)
    check_output(output, file)
    for path in (log, repairability):
        if path is not None:
            check_log(path, file, [output, *({log} if path is repairability and log else ())])
    with closing(DuckEngine()) as engine, progress() as tell:
        tell(f"reading {file.name}")
        typed = file.format == PARQUET
        relation = read_relation(data) if typed else Relation(engine.rows(engine.open(file), None, file.columns))
        tell("putting errors in")
        dirty = generator.dirty(relation, engine=engine)
        tell(f"writing {output.name}")
        write_dirty(dirty, file, output)
        if log is not None:
            write_log(dirty, log)
        if repairability is not None:
            write_repairability(dirty, repairability)
    if json:
        paths = {"output": output, "log": log, "repairability": repairability}
        print_json(as_json(dirty) | {name: None if path is None else str(path) for name, path in paths.items()})
    else:
        _print(dirty, output)


def parse_rate(given: Sequence[str]) -> Rate:
    """`0.1` for all dependencies together, or `A -> B=0.1` or `A -> B:lhs=0.1` for each; not both."""
    if not given:
        return 0.0
    if len(given) == 1 and "->" not in given[0] and "→" not in given[0]:
        return _share(given[0], "--rate")
    rates: dict[str, float] = {}
    for text in given:
        name, sign, share = text.rpartition("=")
        if not sign or not name:
            raise InputError(f"--rate takes one rate for all, or 'A -> B=0.1' for each; {text!r} stands with others")
        if name in rates:
            raise InputError(f"--rate names {name!r} twice")
        rates[name.strip()] = _share(share, f"--rate for {name!r}")
    return rates


def _share(text: str, option: str, of: str = "tuples") -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"{option} takes a share of the {of} from 0 to 1, such as 0.1, not {text!r}")
    return share


def as_json(dirty: DirtyRelation) -> dict[str, Any]:
    return {
        "rows": len(dirty.clean),
        "changed": len(dirty.errors),
        "by_kind": dirty.by_kind,
        "unseen": dirty.unseen,
        "short": [short._asdict() for short in dirty.short],
        "left_alone": _per_dependency(dirty.left_alone),
        "overwritten_whole": _per_dependency(dirty.overwritten_whole),
    }


def _per_dependency(groups: Mapping[FunctionalDependency, int]) -> list[dict[str, Any]]:
    return [{"fd": str(fd), "groups": n} for fd, n in groups.items() if n]


def _print(dirty: DirtyRelation, output: Path) -> None:
    table = plain_table("kind", "errors", numbers=("errors",))
    for kind, number in dirty.by_kind.items():
        table.add_row(kind, f"{number:,}")
    out.print(table)
    out.print(f"\n{dirty.dirty_rows:,} of {len(dirty.clean):,} rows have an error; {output} written.")
    for note in _notes(dirty):
        out.print(Text(printable(note), style="yellow"))


def _notes(dirty: DirtyRelation) -> Iterator[str]:
    for what, asked, made in dirty.short:
        things = "groups" if what.endswith(f":{ErrorKind.OVERWRITTEN}") else "errors"
        yield f"{what}: {asked:,} {things} were asked for, and there was a place for {made:,}"
    for fd, groups in dirty.left_alone.items():
        if groups:
            yield f"{fd}: {groups:,} groups violated it already, and were left alone"
    for fd, groups in dirty.overwritten_whole.items():
        if groups:
            yield f"{fd}: {counted(groups, 'group')} overwritten whole; no violation of it shows that"
    if dirty.unseen:
        yield f"{counted(dirty.unseen, 'error')} in no violation: no dependency sees them"
