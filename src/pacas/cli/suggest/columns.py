"""`pacas suggest columns`: who is named, whom columns single out, and what is nobody's business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HowToRead, says_how_to_read
from pacas.cli.options import Json, check_one_form, out, print_json, printable
from pacas.cli.plain_table import plain_table
from pacas.cli.suggest.coded import coded_table, sample_of
from pacas.core.toml import comment, toml_list
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.roles.suggested import ColumnRole, SuggestedRole
from pacas.suggest.roles.suggesting import suggest_roles

MOST = 0.5
"""The share of rows that is most of them."""
COLOURS = {
    ColumnRole.IDENTIFIER: "red",
    ColumnRole.SENSITIVE: "yellow",
    ColumnRole.QUASI_IDENTIFIER: "cyan",
    ColumnRole.OTHER: "dim",
}


@says_how_to_read
def command(
    data: AnyData,
    toml: Annotated[bool, typer.Option("--toml", help="Lines for provider.toml: X and Y of a policy.")] = False,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Suggest what each column is to the people in a table: an identifier, a quasi-identifier, or sensitive.

    Identifiers name people and are never to be sold. Quasi-identifiers are what others may know, or what singles rows
    out together with others: for X of a policy. Sensitive columns are told by their names: for Y. Words are in English.

    JSON: rows, of, columns (attribute, role, why, values, alone, place, together, shown), together (columns, share),
    singles_out_most

    Example: pacas suggest columns sp.csv
    """
    check_one_form(toml, json)
    with coded_table(data, read) as (table, tell):
        tell("singling rows out")
        found = suggest_roles(table)
    if json:
        print_json(_as_json(table, found))
    elif toml:
        print("\n".join(_toml_lines(table, found)))
    else:
        _print(table, found)


def _as_json(table: CodedTable, found: Sequence[SuggestedRole]) -> dict[str, Any]:
    steps = _together(found)
    names = [one.attribute for one in steps]
    return {
        "rows": table.rows,
        "of": table.of,
        "columns": [{**asdict(one), "role": one.role.value} for one in found],
        "together": [{"columns": names[: n + 1], "share": one.together} for n, one in enumerate(steps)],
        "singles_out_most": [one.attribute for one in _most(steps)],
    }


def _toml_lines(table: CodedTable, found: Sequence[SuggestedRole]) -> Iterator[str]:
    """A policy of what is known and what is sensitive, as a comment where there is none of either; and all reasons."""
    x, y = (
        [one.attribute for one in found if one.role is role]
        for role in (ColumnRole.QUASI_IDENTIFIER, ColumnRole.SENSITIVE)
    )
    yield f"# what the columns of {comment(table.name)} are to the people in it"
    for one in found:
        yield f"# {comment(one.attribute)}: {one.role.value}{comment(f', {one.why}' if one.why else '')}"
    off = "" if x and y else "# "
    yield f"{off}[[policy]]"
    yield f"{off}x = {toml_list(x)}"
    yield f"{off}y = {toml_list(y)}"
    yield f"{off}k = 2  # the least that hides anything: pacas suggest policy finds the largest"


def _together(found: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """The columns that together single most rows out, in order."""
    return sorted((one for one in found if one.place), key=lambda one: one.place or 0)


def _most(steps: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """The first of them that single out most rows; none if all of them do not."""
    enough = [n for n, one in enumerate(steps, start=1) if (one.together or 0) >= MOST]
    return list(steps[: enough[0]]) if enough else []


def _print(table: CodedTable, found: Sequence[SuggestedRole]) -> None:
    numbers = ("values", "rows alone", "a group shows")
    listed = plain_table("column", "role", *numbers, "why", numbers=numbers)
    order = list(COLOURS)
    for one in sorted(found, key=lambda one: order.index(one.role)):
        shown = "" if one.shown is None else f"{one.shown:.1f}"
        role = Text(one.role.value, style=COLOURS[one.role])
        listed.add_row(printable(one.attribute), role, f"{one.values:,}", f"{one.alone:.1%}", shown, one.why)
    out.print(listed)
    out.print()
    steps = _together(found)
    if steps:
        out.print(f"{_said(steps)} {steps[-1].together:.1%} of the rows")
        most = _most(steps)
        if len(most) < len(steps):
            none = "most rows are singled out by none of them"
            out.print(f"{_said(most)} {most[-1].together:.1%}, which is most" if most else none)
    else:
        out.print("no columns single rows out together")
    if said := sample_of(table):
        out.print(said)


def _said(steps: Sequence[SuggestedRole]) -> str:
    names = " + ".join(printable(one.attribute) for one in steps)
    return f"{names} alone singles out" if len(steps) == 1 else f"{names} together single out"
