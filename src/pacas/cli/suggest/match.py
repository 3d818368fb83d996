"""`pacas suggest match`: which column is which on the other side, and by which an attribute is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HowToRead, says_how_to_read
from pacas.cli.options import Json, check_one_form, out, print_json, printable
from pacas.cli.plain_table import plain_table
from pacas.core.dependency import MatchClause, MatchingDependency
from pacas.core.toml import toml_key, toml_text
from pacas.errors import SchemaError
from pacas.formats.relations.relations import locate
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.kind import Kind
from pacas.suggest.mapping.column_mapping import MappedColumn, map_columns
from pacas.suggest.matches.answering import AskingRows, SuggestedMatch
from pacas.suggest.matches.match_columns import UNFIT, suggest_matches

Found = Mapping[str, Sequence[SuggestedMatch]]


@says_how_to_read
def command(
    data: AnyData,
    provider_table: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The provider's table, if DATA is a client's; else DATA is the provider's."),
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option("--attribute", "-a", metavar="ATTR", help="What is sold; repeat. (default: all)")
    ] = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print the lines of a section for provider.toml.")] = False,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Suggest by which columns clients find an attribute: at most three, that tell it in 95 % of their groups.

    With both tables it says first which column is which, by names, values and formats, and counts how many of the
    client's rows a match would answer; with the provider's alone, how many of its own.

    JSON: columns (client, provider, score, name, values, shape, written_alike), matches (attribute, match, columns,
    tells, answers, groups, identifies: whether most groups are one row)

    Example: pacas suggest match client.csv --provider-table sp.csv
    """
    check_one_form(toml, json)
    with read.opened(data) as (asked, source, tell):
        mine = CodedTable.read(asked, source)
        if provider_table is None:
            mapped, rows = None, AskingRows.own(mine)
        else:
            tell(f"reading {provider_table}")
            theirs = CodedTable.read(asked, locate(provider_table, Path(), (), asked))
            mapped = map_columns(mine.columns, theirs.columns)
            same = {one.client: one.provider for one in mapped if one.is_written_alike}
            rows = AskingRows.of(theirs, mine, same)
        sold = _sold(attribute, rows, mapped)
        found = {}
        for name in sold:
            tell(f"what tells {name}?")
            found[name] = suggest_matches(rows, name)
    own = {one.provider: one.client for one in mapped or ()}
    if json:
        print_json({"columns": [_mapped(one) for one in mapped or ()], "matches": list(_as_json(found, own))})
    elif toml:
        _print_toml(found, own)
    else:
        _print(mapped, found, own)


def _sold(given: Sequence[str] | None, rows: AskingRows, mapped: Sequence[MappedColumn] | None) -> list[str]:
    """The attributes that matches are looked for: those that are asked for, else all that tell something."""
    table = rows.table
    if given:
        SchemaError.check_there(given, list(table.columns), table.name)
        return list(given)
    known = list(table.columns) if mapped is None else [one.provider for one in mapped]
    return [name for name in known if table[name].kind not in (*UNFIT, Kind.KEY)]


def match_text(columns: Sequence[str], own: Mapping[str, str]) -> str:
    """A matching dependency by equality; `own` has the client's names, where they are others."""
    return str(MatchingDependency(tuple(MatchClause(own.get(column, column), column) for column in columns)))


def _mapped(one: MappedColumn) -> dict[str, Any]:
    return {
        "client": one.client,
        "provider": one.provider,
        "score": round(one.score, 4),
        "name": round(one.name, 4),
        "values": None if one.values is None else round(one.values, 4),
        "shape": None if one.shape is None else round(one.shape, 4),
        "written_alike": one.is_written_alike,
    }


def _as_json(found: Found, own: Mapping[str, str]) -> Any:
    for matches in found.values():
        for one in matches:
            yield {
                "attribute": one.attribute,
                "match": match_text(one.columns, own),
                "columns": list(one.columns),
                "tells": round(one.tells, 4),
                "answers": round(one.answers, 4),
                "groups": one.groups,
                "identifies": one.identifies,
            }


def _print_toml(found: Found, own: Mapping[str, str]) -> None:
    out.print("[match]")
    for name, matches in found.items():
        for place, one in enumerate(matches):
            line = f"{toml_key(name)} = {toml_text(match_text(one.columns, own))}"
            out.print(f"{'# ' if place else ''}{line}  # {_why(one)}", soft_wrap=True)
        if not matches:
            out.print(f"# {printable(name)}: no three columns tell it", soft_wrap=True)


def _why(one: SuggestedMatch) -> str:
    return f"tells it in {one.tells:.1%} of {one.groups:,} groups, answers {one.answers:.0%} of the rows"


def _print(mapped: Sequence[MappedColumn] | None, found: Found, own: Mapping[str, str]) -> None:
    if mapped is not None:
        columns = plain_table("your column", "the provider's", "score", "because", numbers=["score"])
        for one in mapped:
            other = "" if one.is_written_alike else ", written otherwise"
            columns.add_row(printable(one.client), printable(one.provider), f"{one.score:.2f}", f"{one.why}{other}")
        out.print(columns)
        out.print()
    table = plain_table("attribute", "found by", "tells", "answers", "", numbers=["tells", "answers"])
    for name, matches in found.items():
        for place, match in enumerate(matches):
            who = Text("single rows", style="yellow") if match.identifies else Text()
            first = "" if place else printable(name)
            by = printable(", ".join(match.columns))
            table.add_row(first, by, f"{match.tells:.1%}", f"{match.answers:.0%}", who)
        if not matches:
            table.add_row(printable(name), Text("no three columns tell it", style="yellow"), "", "", "")
    out.print(table)
