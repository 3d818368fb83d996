"""`pacas suggest hierarchies`: levels for each column, and what they hide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HowToRead, says_how_to_read
from pacas.cli.options import Json, check_one_form, out, print_json, printable
from pacas.cli.suggest.coded import coded_table, sample_of
from pacas.core.dependency import FunctionalDependency
from pacas.core.toml import comment, toml_key, toml_value
from pacas.core.words import counted
from pacas.engine.hierarchy_files import arx
from pacas.errors import SchemaError
from pacas.formats.starters.file_names import file_names
from pacas.formats.starters.new_files import check_new, write_new
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.hierarchies.suggested import HidingLevel, SuggestedHierarchy
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies, why_none

FdOption = Annotated[
    list[str] | None,
    typer.Option("--fd", metavar="'A -> B'", help="What may make a chain, instead of what is found; repeat."),
]
AttributeOption = Annotated[
    list[str] | None,
    typer.Option("--attribute", "-a", metavar="ATTR", help="For which columns; repeat. (default: all)"),
]


@says_how_to_read
def command(
    data: AnyData,
    attribute: AttributeOption = None,
    fd: FdOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write a file (ARX CSV) for each; none is overwritten."),
    ] = None,
    k: Annotated[
        int, typer.Option(min=1, metavar="K", help="In files: put families together until each has K values.")
    ] = 2,
    toml: Annotated[bool, typer.Option("--toml", help="Lines for client.toml or provider.toml.")] = False,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Suggest a hierarchy for each column: by other columns, public lists, dates, numbers, codes, or the alphabet.

    A column that another one tells the families of (City → County → State) gets those. Categories stay flat: what
    belongs together is for somebody to say who knows them. Each level is given with what it hides.

    JSON: rows, of, hierarchies (attribute, how, options, alternative, file, height, levels (level, labels, smallest,
    median, largest, rows_below)), none (attribute, why); output, if written

    Example: pacas suggest hierarchies sp.csv --toml
    """
    check_one_form(toml, json)
    with coded_table(data, read) as (table, tell):
        SchemaError.check_there(attribute or (), list(table.columns), table.name)
        for one in FunctionalDependency.parse_all(fd or ()):
            one.check(list(table.columns), table.name)
        tell("making hierarchies")
        found = suggest_hierarchies(table, fd or None)
    shown = {name: one for name, one in found.items() if not attribute or name in attribute}
    without = {
        name: why
        for name, one in table.columns.items()
        if (why := why_none(one)) and (not attribute or name in attribute)
    }
    files = {} if output is None else _write(shown.values(), output, k)
    if json:
        print_json(_as_json(table, shown, without, files, output))
    elif toml:
        print(_as_toml(shown, files))
    else:
        _print(table, shown, without, files)


def _write(suggested: Iterable[SuggestedHierarchy], folder: Path, k: int) -> dict[str, Path]:
    """A file for each that has levels, in a folder that may be new; all of them, or none."""
    trees = {one.attribute: one.merged(k) for one in suggested if not one.is_flat}
    files = file_names(trees, folder)
    check_new(files.values())
    write_new({files[attribute]: arx.write(tree).encode() for attribute, tree in trees.items()})
    return files


# ---- for programs --------------------------------------------------------------------------------------------------


def _as_json(
    table: CodedTable,
    found: Mapping[str, SuggestedHierarchy],
    without: Mapping[str, str],
    files: Mapping[str, Path],
    output: Path | None,
) -> dict[str, Any]:
    listed = [
        {
            "attribute": one.attribute,
            "how": one.how,
            "options": one.options,
            "alternative": one.alternative,
            "file": str(files[name]) if name in files else None,
            "height": one.hierarchy.height,
            "levels": [_level_as_json(level) for level in one.levels],
        }
        for name, one in found.items()
    ]
    none = [{"attribute": name, "why": why} for name, why in without.items()]
    written = {} if output is None else {"output": str(output)}
    return {"rows": table.rows, "of": table.of, "hierarchies": listed, "none": none, **written}


def _level_as_json(level: HidingLevel) -> dict[str, Any]:
    return {
        "level": level.level,
        "labels": level.labels,
        "smallest": level.smallest,
        "median": level.median,
        "largest": level.largest,
        "rows_below": {str(few): round(share, 6) for few, share in level.rows_below.items()},
    }


def _as_toml(found: Mapping[str, SuggestedHierarchy], files: Mapping[str, Path]) -> str:
    return "\n".join(["[hierarchies]", *(_toml_line(one, files.get(name)) for name, one in found.items())])


def _toml_line(one: SuggestedHierarchy, file: Path | None) -> str:
    name = toml_key(one.attribute)
    if file is not None:
        return f"{name} = {toml_value(file.as_posix())}  # {comment(one.how)}"
    if one.options is not None:
        return f"{name} = {toml_value(one.options)}"
    if one.is_flat:
        could = "" if one.alternative is None else f"; perhaps {name} = {toml_value(one.alternative)}"
        return f"# {name} stays flat{could}"
    return f"# {name}: {comment(one.how)}; --output FOLDER writes it as a file"


# ---- for people ----------------------------------------------------------------------------------------------------

HEADS = f"{'level':>7}{'labels':>9}{'values of a label':>24}{'rows under 2':>15}{'under 5':>10}"


def _print(
    table: CodedTable,
    found: Mapping[str, SuggestedHierarchy],
    without: Mapping[str, str],
    files: Mapping[str, Path],
) -> None:
    for name, one in found.items():
        if not one.is_flat:
            where = f"  {files[name]}" if name in files else ""
            out.print(Text.assemble((printable(name), "bold"), f": {printable(one.how)}", (where, "green")))
            out.print(Text(HEADS, style="dim"))
            for level in one.levels[1:]:
                out.print(_level_line(level))
    flat = [one for one in found.values() if one.is_flat]
    if flat:
        out.print(Text.assemble(("flat", "bold"), f": {', '.join(_flat(one) for one in flat)}"))
    for name, why in without.items():
        out.print(Text.assemble((printable(name), "bold"), f": none, {why}", style="dim"))
    if not found and not without:
        out.print("no columns")
    if said := sample_of(table):
        out.print(said)


def _level_line(level: HidingLevel) -> str:
    sizes = f"{level.smallest:,} to {level.largest:,}" if level.smallest < level.largest else f"{level.smallest:,}"
    shares = [f"{share:.1%}" for share in level.rows_below.values()]
    return f"{level.level:>7}{level.labels:>9,}{sizes:>24}{shares[0]:>15}{shares[1]:>10}"


def _flat(one: SuggestedHierarchy) -> str:
    by = "" if one.alternative is None else f", perhaps clustered by {one.alternative['by']}"
    return printable(f"{one.attribute} ({counted(one.levels[0].labels, 'value')}{by})")
