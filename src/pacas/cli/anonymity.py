"""`pacas anonymity`: is every group of people linked to enough values."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HierarchyOption, HowToRead, read_hierarchies, says_how_to_read
from pacas.cli.options import Json, names, out, print_json, printable
from pacas.core.anonymity import Anonymity, Policy, check_anonymity
from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.criterion import Number
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.core.criteria.named import CRITERIA, criterion_named
from pacas.engine.questions import group_histogram
from pacas.errors import InputError


@says_how_to_read
def command(
    data: AnyData,
    x: Annotated[str, typer.Option(metavar="A,B", help="X: the attributes that identify a group of people.")],
    y: Annotated[str, typer.Option(metavar="C", help="Y: the sensitive attributes. Without: k tuples a group.")] = "",
    level: Annotated[list[str] | None, typer.Option(metavar="C=1", help="A level of Y (0 is ground); repeat.")] = None,
    k: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="How many values each group must be linked to; 1 if nothing is said."),
    ] = None,
    criterion: Annotated[
        str, typer.Option(metavar="NAME", help=f"What the values must be like: {', '.join(CRITERIA)}.")
    ] = DistinctValues.name,
    l: Annotated[  # noqa: E741  # the literature's letter
        str | None,
        typer.Option(
            "--l", metavar="L", help="entropy: as uncertain as L even values. recursive: rare from the L-th on."
        ),
    ] = None,
    c: Annotated[
        str | None,
        typer.Option("--c", metavar="C", help="recursive: the most frequent is below C times all rare ones."),
    ] = None,
    t: Annotated[
        str | None, typer.Option("--t", metavar="T", help="closeness: distributed at most T away from the whole table.")
    ] = None,
    hierarchy: HierarchyOption = None,
    measures: Annotated[bool, typer.Option("--measures", help="Also measure l-diversity and t-closeness.")] = False,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Check k-, (X,Y)- and (X,Y,L)-anonymity, or another criterion, and say the strictest that holds.

    Exit code 0: it holds for the k or the criterion given; 1: it does not.

    JSON: holds, k (the largest that holds), groups, failing_groups, unlinked_rows, criterion (name, its parameters),
    strictest (its parameter, as strict as holds; null: none does, or any); l_diversity, t_closeness (measures)

    Example: pacas anonymity public.csv --x GEN,AGE,ZIP --y MED --level MED=1 --k 3 --hierarchy MED=med.csv
    """
    given: dict[str, Number | None] = {"k": k, "l": l, "c": c, "t": t}
    if criterion == DistinctValues.name and k is None:
        given["k"] = 1
    policy = Policy(names(x), names(y), _levels(level or ()), criterion=criterion_named(criterion, given))
    with read.opened(data) as (asked, source, tell):
        tell(f"grouping by {', '.join(policy.x)}")
        histogram = group_histogram(source, policy, read_hierarchies(hierarchy), engine=asked)
    found = check_anonymity(histogram, policy)
    document: dict[str, Any] = {
        "holds": found.holds,
        "k": found.k,
        "groups": found.groups,
        "failing_groups": found.failing_groups,
        "unlinked_rows": found.unlinked_rows,
        "criterion": policy.must_hold.written,
        "strictest": {policy.must_hold.strictest_of: None if found.strictest == inf else found.strictest},
    }
    if measures and policy.y and found.groups:
        document["l_diversity"] = {"distinct": found.k, "entropy": EntropyDiversity(1).strictest(histogram)}
        document["t_closeness"] = Closeness(1).strictest(histogram)
    if json:
        print_json(document)
    else:
        _print(found, document)
    raise typer.Exit(0 if found.holds else 1)


def _levels(options: Sequence[str]) -> dict[str, int]:
    levels: dict[str, int] = {}
    for option in options:
        attribute, _, number = option.rpartition("=")
        if not attribute or not number.strip().isdecimal() or len(number) > 999:
            raise InputError(f"--level takes ATTR=NUMBER, such as MED=1, not {option!r}")
        if attribute.strip() in levels:
            raise InputError(f"--level names {attribute.strip()!r} twice")
        levels[attribute.strip()] = int(number)
    return levels


def _print(checked: Anonymity, found: dict[str, Any]) -> None:
    verdict = ("holds", "green") if found["holds"] else ("does not hold", "red")
    out.print(Text.assemble(printable(f"{checked.policy.asks}: "), verdict))
    edge = f"{checked.strictest:.4g}" if isinstance(checked.strictest, float) else str(checked.strictest)
    short = f"{found['failing_groups']:,} of {found['groups']:,} groups fall short"
    out.print(f"{checked.policy.must_hold.strictest_is}: {edge}; {short}")
    if found["unlinked_rows"]:
        out.print(f"{found['unlinked_rows']:,} rows have a null in X and belong to no group")
    if "l_diversity" in found:
        diversity = found["l_diversity"]
        out.print(f"l-diversity: distinct {diversity['distinct']}, entropy {diversity['entropy']:.4g}")
        out.print(f"t-closeness: {found['t_closeness']:.4g}")
