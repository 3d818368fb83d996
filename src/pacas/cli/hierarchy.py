"""`pacas hierarchy`: build one from data, check one, look at one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import AS_NAMED, AnyData, HowToRead, says_how_to_read
from pacas.cli.options import Json, command_group, out, print_json, printable
from pacas.cli.tree import draw
from pacas.core.builders import BUILDERS, BY, COLUMNS, Needs
from pacas.core.hierarchies.balance import balance
from pacas.core.hierarchies.composition import Composition, compose
from pacas.core.hierarchies.lint import lint
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Histogram
from pacas.engine.hierarchy_files import arx, read_hierarchy, read_raw_hierarchy, write_hierarchy
from pacas.engine.questions import hierarchy_from, open_data
from pacas.errors import InputError
from pacas.formats.replacing import check_is_text

app = command_group(
    """Build, check and show generalization hierarchies.

    Example: pacas hierarchy show med.csv
    """
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A hierarchy: ARX CSV, JSON tree, Amnesia text or JSON.")]
AgainstData = Annotated[str | None, typer.Option("--data", metavar="DATA", help="A relation to compare with.")]
Attribute = Annotated[str | None, typer.Option("--attribute", "-a", metavar="ATTR", help="The column of --data.")]


@app.command("build")
@says_how_to_read
def build(
    data: AnyData,
    attribute: Annotated[str, typer.Argument(metavar="ATTR", help="The column to build a hierarchy for.")],
    method: Annotated[
        str,
        typer.Argument(metavar="METHOD", help=f"One of {', '.join(BUILDERS)}; the last as columns=CountyName,State."),
    ],
    option: Annotated[list[str] | None, typer.Argument(metavar="[OPTION=VALUE]…", help="Such as widths=10,30.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it: .csv (ARX) or .json.")
    ] = None,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Build a hierarchy from a column's own values, or from columns that stand above it.

    JSON: height, root, levels (level, values), rows (each ground value up to the root); output, if written

    Example: pacas hierarchy build sp.csv AGE intervals widths=10,30 --output age.csv
    """
    if method.startswith(f"{COLUMNS}="):  # the columns say all there is to say
        method, option = COLUMNS, [method, *(option or ())]
    options = dict(_option(text, method) for text in option or ())
    with read.opened(data) as (asked, source, tell):
        tell(f"building {method} for {attribute}")
        made = hierarchy_from(source, attribute, method, options, engine=asked)
    _show_made(made, output, json)


@app.command("balance")
def balance_(
    file: File,
    level: Annotated[int, typer.Option(min=0, metavar="L", help="The level at which a policy protects values.")],
    k: Annotated[int, typer.Option(min=1, metavar="K", help="How many values of that level each value above hides.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it: .csv (ARX) or .json.")
    ] = None,
    json: Json = False,
) -> None:
    """Put small families together with siblings, so that every value above a level hides k values of it.

    JSON: height, root, levels (level, values), rows (each ground value up to the root); output, if written

    Example: pacas hierarchy balance med.csv --level 0 --k 2
    """
    _show_made(balance(read_hierarchy(file), level, k), output, json)


@app.command("check")
@says_how_to_read
def check(
    file: File,
    data: AgainstData = None,
    attribute: Attribute = None,
    k: Annotated[int | None, typer.Option(min=1, metavar="K", help="Report levels with fewer than k values.")] = None,
    with_: Annotated[
        Path | None,
        typer.Option("--with", metavar="FILE", help="Another provider's hierarchy: what do the two tell together?"),
    ] = None,
    values: Annotated[bool, typer.Option("--values", help="Show some of the values that are not covered.")] = False,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Check a hierarchy: is it a tree, does it cover the data, has each level enough values.

    With --with, of two hierarchies of one attribute: two providers that each answer so that k values are left (3,
    unless --k says otherwise) may leave fewer to who buys from both. Providers with one tree (one digest) do not.

    Exit code 0: no problem (notes are no problems); 1: some.

    JSON: ok, digest (null where it is no tree), findings (severity, kind, message, level, count, lines), together (with
    --with: digest of the other, k, values, only_here, only_there, fewer_than_k, pinned)

    Example: pacas hierarchy check age.csv --data sp.csv --attribute AGE --k 3
    """
    raw = read_raw_hierarchy(file)
    column = _column(data, attribute, read)
    cells = None if column is None else column.column(column.attributes[0])
    findings = lint(raw.rows, cells, k, numeric=raw.numeric, quote_values=values)
    problems = [f for f in findings if f.severity == "problem"]
    tree = None if any(f.kind not in _OF_TREES for f in problems) else raw.build(file)
    other = None if with_ is None or tree is None else read_hierarchy(with_)
    both = None if other is None or tree is None else compose(tree, other, k or _USUAL_K)
    holds = not problems and (both is None or not both.fewer)
    if json:
        listed = [
            {
                "severity": f.severity,
                "kind": f.kind,
                "message": f.message,
                "level": f.level,
                "count": f.count,
                "lines": list(f.lines),
            }
            for f in findings
        ]
        told = {} if both is None or other is None else {"together": _together(both, other)}
        print_json({"ok": holds, "digest": tree and tree.digest, "findings": listed, **told})
    else:
        for finding in findings:
            colour = "red" if finding.severity == "problem" else "yellow"
            out.print(Text.assemble((finding.severity, colour), " ", printable(finding.message)))
        if not problems and tree is not None:
            out.print(Text.assemble(("ok", "green"), f" {_in_words(tree)}; sha256 {tree.digest}"))
        if both is not None:
            out.print(_together_in_words(both))
    raise typer.Exit(0 if holds else 1)


@app.command("show")
@says_how_to_read
def show(
    file: File,
    data: AgainstData = None,
    attribute: Attribute = None,
    depth: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many levels below the root.")] = None,
    children: Annotated[int, typer.Option(min=1, metavar="N", help="How many children to show of each value.")] = 12,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Draw a hierarchy as a tree; with --data and --attribute, how many rows lie below each value.

    JSON: height, root, levels (level, values), rows (each ground value up to the root)

    Example: pacas hierarchy show med.csv --depth 2
    """
    shown = read_hierarchy(file)
    column = _column(data, attribute, read)
    if json:
        print_json(_levels(shown))
        return
    counts = None
    if column is not None:
        counted = zip(column.column(column.attributes[0]), column.counts.tolist(), strict=True)
        counts = {value: n for value, n in counted if value is not None}
    out.print(draw(shown, max_children=children, depth=depth, counts=counts))


_OF_TREES = ("uncovered-values", "general-values", "few-values")
"""Problems that a tree can have."""
_USUAL_K = 3


def _together(both: Composition, other: Hierarchy) -> dict[str, object]:
    return {
        "digest": other.digest,
        "k": both.k,
        "values": both.values,
        "only_here": both.only_first,
        "only_there": both.only_second,
        "fewer_than_k": both.fewer,
        "pinned": both.pinned,
    }


def _together_in_words(both: Composition) -> Text:
    if not both.fewer:
        return Text.assemble(("ok", "green"), f" together: all {both.values:,} values are left with {both.k} or more")
    return Text.assemble(
        ("problem", "red"),
        f" together: {both.fewer:,} of {both.values:,} values are left with fewer than {both.k}, {both.pinned:,} of "
        "them with no other; sell with one tree",
    )


def _show_made(made: Hierarchy, output: Path | None, json: bool) -> None:
    if output is not None:
        check_is_text(output)
        write_hierarchy(made, output)
    if json:
        print_json({**_levels(made), **({"output": str(output)} if output else {})})
    elif output is not None:
        out.print(f"{output}: {_in_words(made)}")
    else:
        sys.stdout.write(arx.write(made))


def _option(text: str, method: str) -> tuple[str, Any]:
    """`widths=10,30` as a builder's option."""
    name, sign, value = text.partition("=")
    if not sign:
        chosen = BUILDERS.get(method)
        known = [*chosen.options, *([BY] if chosen.needs is Needs.OTHER else [])] if chosen else []
        hint = f"; {method} has {', '.join(known)}" if known else ""
        raise InputError(f"an option is written NAME=VALUE, not {text!r}{hint}")
    return name.strip(), [part.strip() for part in value.split(",")] if "," in value else value.strip()


def _column(data: str | None, attribute: str | None, read: HowToRead) -> Histogram | None:
    if data is None and attribute is None:
        return None
    if data is None or attribute is None:
        raise InputError("--data and --attribute go together")
    with read.opened(data) as (engine, source, _):
        return engine.histogram(open_data(engine, source, [attribute]), [attribute], {})


def _levels(hierarchy: Hierarchy) -> dict[str, object]:
    levels = [{"level": at, "values": len(hierarchy.at_level(at))} for at in range(hierarchy.height + 1)]
    return {"height": hierarchy.height, "root": hierarchy.root_label, "levels": levels, "rows": list(hierarchy.rows())}


def _in_words(hierarchy: Hierarchy) -> str:
    sizes = " → ".join(f"{len(hierarchy.at_level(at)):,}" for at in range(hierarchy.height + 1))
    return f"{hierarchy.height + 1} levels, values per level {sizes}"
