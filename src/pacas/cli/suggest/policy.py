"""`pacas suggest policy`: the largest k and the levels that keep most sales possible, and what others would leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HierarchyOption, HowToRead, read_hierarchies, says_how_to_read
from pacas.cli.options import Json, Tell, check_one_form, names, out, print_json, printable
from pacas.cli.plain_table import plain_table
from pacas.cli.suggest.coded import coded_table, sample_of
from pacas.core.hierarchy import Hierarchy
from pacas.core.toml import comment, toml_key, toml_value
from pacas.core.words import counted
from pacas.errors import InputError, SchemaError
from pacas.experiments.plots.picture import check_picture
from pacas.experiments.plots.policies import picture_policies
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies
from pacas.suggest.policies.suggested import PolicyPoint, SuggestedPolicy
from pacas.suggest.policies.suggesting import SHARE, USUAL_PER_CELL, suggest_policy
from pacas.suggest.roles.suggested import ColumnRole
from pacas.suggest.roles.suggesting import suggest_roles


@says_how_to_read
def command(
    data: AnyData,
    y: Annotated[
        str | None,
        typer.Option("--y", metavar="C,…", help="What is sold and protected, a policy for each; what looks sensitive."),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="A,B", help="What others know: who shares it stays hidden; quasi-identifiers."),
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="A,B,…", help="What people are found by; X unless given.")
    ] = None,
    tied: Annotated[
        bool,
        typer.Option("--tied", help="The match determines Y, as is declared: all that it finds is sold as one."),
    ] = False,
    scope: Annotated[
        str, typer.Option("--scope", metavar="group|row", help="Protect each X-group, or each of its rows.")
    ] = "group",
    hierarchy: HierarchyOption = None,
    share: Annotated[
        float, typer.Option("--share", metavar="S", help="The share of rows that is to stay for sale.")
    ] = SHARE,
    level: Annotated[
        int | None,
        typer.Option("--level", min=0, metavar="L", help="At which level; unless given, the finest that any k allows."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw it: policy.svg, policy.png or policy.html.")
    ] = None,
    toml: Annotated[bool, typer.Option("--toml", help="Lines for provider.toml.")] = False,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Suggest a policy: the largest k, and its level, that keep most rows for sale before anything is sold.

    What sealed quotes refuse follows from the tree and from counts: who is kept back is sold from the level on at which
    every label leaves k values. All k and levels are listed with the share of rows for sale at each level. Without
    --hierarchy, the one that pacas suggest hierarchies writes is taken; without --y or --x, what pacas suggest columns
    calls sensitive, or quasi-identifiers.

    Exit code 0: there is one; 1: no k above 1 keeps the share for sale below the root.

    JSON: policies (attribute, x, match, k, level, safe_level, sold_from, share, allow_linkage, scope, per_cell, rows,
    matched, alone, kept, groups, exact, points (k, level, safe_level, shares)); picture, if drawn

    Example: pacas suggest policy sp.csv --x GEN --y MED --match GEN,AGE --hierarchy MED=med.csv
    """
    check_one_form(toml, json)
    if scope not in ("group", "row"):
        raise InputError(f"no scope {scope!r}; it is group, or row")
    if picture is not None:
        check_picture(picture)
    given = read_hierarchies(hierarchy)
    with coded_table(data, read) as (table, tell):
        sold = _named(table, y, "--y", ColumnRole.SENSITIVE)
        known = [name for name in _named(table, x, "--x", ColumnRole.QUASI_IDENTIFIER) if x or name not in sold]
        trees = _trees(table, sold, given, tell)
        found = [
            suggest_policy(
                table,
                attribute,
                tree,
                known,
                match=None if match is None else names(match),
                tied=tied,
                scope=scope,
                share=share,
                level=level,
            )
            for attribute, tree in trees.items()
        ]
    if picture is not None:
        picture_policies(picture, table.name, found)
    if json:
        drawn = {} if picture is None else {"picture": str(picture)}
        print_json({"policies": [_as_json(one) for one in found], **drawn})
    elif toml:
        print("\n\n".join(_as_toml(one) for one in found))
    else:
        _print(table, found)
    raise typer.Exit(0 if all(one.chosen for one in found) else 1)


def _named(table: CodedTable, given: str | None, option: str, role: ColumnRole) -> Sequence[str]:
    """The columns that an option names; without it, those that seem to have a role."""
    if given is not None:
        return names(given)
    found = [one.attribute for one in suggest_roles(table) if one.role is role]
    if not found:
        raise InputError(f"{table.name}: no column looks {role.value}; name some with {option}")
    return found


def _trees(
    table: CodedTable, attributes: Sequence[str], given: Mapping[str, Hierarchy], tell: Tell
) -> dict[str, Hierarchy]:
    """The hierarchies of what is sold: those that are given, and else those that would be suggested."""
    if not attributes:
        raise InputError("--y names no column")
    SchemaError.check_there([*attributes, *given], list(table.columns), table.name)
    missing = [attribute for attribute in attributes if attribute not in given]
    tell("making hierarchies")
    found = suggest_hierarchies(table) if missing else {}
    flat = {name: Hierarchy.flat(table[name].values) for name in missing if name not in found}
    made = {name: found[name].merged() for name in missing if name in found}
    return {name: tree for name, tree in {**given, **made, **flat}.items() if name in attributes}


def _as_json(found: SuggestedPolicy) -> dict[str, Any]:
    chosen, rows = found.chosen, found.found
    return {
        "attribute": found.attribute,
        "x": list(found.x),
        "match": list(found.match),
        "k": chosen and chosen.k,
        "level": None if chosen is None else chosen.level,
        "safe_level": chosen and chosen.safe_level,
        "sold_from": found.sold_from,
        "share": found.share,
        "allow_linkage": found.allow_linkage,
        "scope": found.scope,
        "per_cell": found.per_cell,
        "rows": rows.rows,
        "matched": rows.matched,
        "alone": rows.alone,
        "kept": rows.kept,
        "groups": rows.groups,
        "exact": rows.is_exact,
        "points": [
            {"k": one.k, "level": one.level, "safe_level": one.safe_level, "shares": list(one.shares)}
            for one in found.points
        ],
    }


def _as_toml(found: SuggestedPolicy) -> str:
    """The policy as a section; a comment where there is none."""
    if found.chosen is None:
        return f"# {toml_key(found.attribute)}: {comment(found.why_none or '')}"
    lines = [
        "[[policy]]",
        f"x = {toml_value(found.x)}",
        f"y = {toml_value([found.attribute])}",
        f"levels = {toml_value({found.attribute: found.chosen.level})}",
        f"k = {found.chosen.k}",
    ]
    if found.scope == "row":
        lines.append('scope = "row"')
    elif found.allow_linkage:
        lines.append("allow_linkage = true")
    return "\n".join(lines)


# ---- for people ----------------------------------------------------------------------------------------------------


def _print(table: CodedTable, found: Sequence[SuggestedPolicy]) -> None:
    for number, one in enumerate(found):
        if number:
            out.print()
        out.print(Text(_counts(one)))
        if one.points:
            _print_points(one)
        out.print()
        out.print(_as_toml(one) if one.chosen else Text(f"no policy: {one.why_none}", style="red"))
        for line in _advice(one):
            out.print(line)
    if said := sample_of(table):
        out.print(said)


def _counts(found: SuggestedPolicy) -> str:
    rows = found.found
    by, x = printable(", ".join(found.match)), printable(", ".join(found.x))
    groups = f"by {x}" if found.x != found.match else "by the same"
    kept = "all of them" if found.scope == "row" else f"{rows.kept:,} of them{'' if rows.is_exact else ', about,'}"
    return (
        f"{printable(found.attribute)}: {rows.alone:,} of {counted(rows.rows, 'row')} are told apart by {by}; "
        f"{kept} are kept back, for {counted(rows.groups, 'group')} {groups}"
    )


def _print_points(found: SuggestedPolicy) -> None:
    height = len(found.points[0].shares) - 1
    levels = [f"level {at}" for at in range(height)]
    table = plain_table("", "k", "L", "kept back from", *levels, numbers=("k", "L", "kept back from", *levels))
    for one in found.points:
        style = "bold green" if one is found.chosen else ""
        cells = ["→" if one is found.chosen else "", str(one.k), str(one.level), _from(one, height)]
        table.add_row(*cells, *(f"{share:.1%}" for share in one.shares[:height]), style=style)
    out.print(table)


def _from(point: PolicyPoint, height: int) -> str:
    return "never" if point.safe_level == height else f"level {point.safe_level}"


def _advice(found: SuggestedPolicy) -> Iterator[str]:
    """What else to know, in comments."""
    if found.per_cell is not None and found.per_cell > USUAL_PER_CELL and found.chosen is not None:
        yield (
            f'# with quotes = "paper" the usual {USUAL_PER_CELL} neighbours a cell are too few for that; in [pricing] '
            f"support = {{ per_cell = {found.per_cell} }}"
        )
    if (coarser := found.larger_k) is not None:
        point, level = coarser
        kept = "nothing" if point.safe_level == len(point.shares) - 1 else f"nothing below level {point.safe_level}"
        given_up = f"who is kept back is sold {kept}" if level == found.sold_from else f"level {level} is fine enough"
        yield f"# k = {point.k} at level {point.level} does, too, if {given_up}"
