"""`pacas check`: do the dependencies hold, and which cells are in doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from pacas.cli.data_options import (
    UNSAID,
    AnyData,
    HierarchyOption,
    chooses_an_engine,
    opened_engine,
    read_hierarchies,
    reads_a_table,
)
from pacas.cli.options import Json, cut, out, print_json, printable, progress
from pacas.cli.plain_table import plain_table
from pacas.client.classes.check import Check, DependencyCheck, check
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine, Source
from pacas.engine.contract import Table as Opened
from pacas.errors import InputError
from pacas.formats.cells_file import CellsFile
from pacas.formats.relations.relations import AS_IT_IS, Reading, locate
from pacas.formats.report.failure_cases import write_failed_rows, write_failure_cases

SHOWN = 10
BEFORE = 20
"""Characters that are shown before those in which long values differ."""


@reads_a_table
@chooses_an_engine
def command(
    data: AnyData,
    fd: Annotated[list[str], typer.Option("--fd", metavar="'A, B -> C'", help="A functional dependency; repeat.")],
    hierarchy: HierarchyOption = None,
    groups: Annotated[int, typer.Option(min=0, metavar="N", help="List so many violating groups a dependency.")] = 0,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="What tells rows apart: it numbers those of a folder, and names listed ones; repeat."
        ),
    ] = None,
    failures: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|ATTR=FILE",
            help="Write the violating cells: pandera's failure cases, or as .json Great Expectations' result; with "
            "ATTR= whole rows, as dbt and Soda keep them.",
        ),
    ] = None,
    reading: Reading = AS_IT_IS,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Count the violations of functional dependencies, general values considered, and find the classes to repair.

    Exit code 0: all dependencies hold; 1: some do not.

    JSON: rows, consistent, dependencies (fd, violations, groups, violating_groups: x, violations, values:
    value, rows, rows: row, key, value), classes (attribute, rows, errors)

    Example: pacas check client.csv --fd "GEN, DIAG -> MED" --hierarchy MED=med.csv --groups 3 --key ID
    """
    keys = key or ()
    with opened_engine(engine) as asked, progress() as tell:
        source = locate(data, Path(), keys, asked, reading)
        found = check(source, fd, read_hierarchies(hierarchy), engine=asked, progress=tell)
        shown = [c for c in source.columns if c in keys or any(c in d.fd.attributes for d in found.dependencies)]
        listed = _Listing(asked, asked.open(source, shown), keys, groups) if groups else None
        if failures is not None:
            _write(CellsFile.parse(failures, "--failures"), found, source, keys)
        document = as_json(found, listed)
    if json:
        print_json(document)
    else:
        _print(found, document)
    raise typer.Exit(0 if found.consistent else 1)


def _write(wanted: CellsFile, found: Check, source: Source, keys: Sequence[str]) -> None:
    if wanted.attribute is None:
        write_failure_cases(wanted.path, found, source, keys)
    elif wanted.path.suffix.lower() == ".json":
        raise InputError(f"failed rows are written as CSV; {wanted.path.name} is a name for Great Expectations' result")
    else:
        write_failed_rows(wanted.path, found, source, wanted.attribute)


def as_json(found: Check, listed: _Listing | None = None) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "consistent": found.consistent,
        "dependencies": [
            {
                "fd": str(d.fd),
                "violations": d.violations,
                "groups": d.groups,
                **({"violating_groups": listed.groups(d)} if listed else {}),
            }
            for d in found.dependencies
        ],
        "classes": [{"attribute": c.attribute, "rows": c.rows.tolist(), "errors": c.errors} for c in found.classes],
    }


class _Listing:
    """The violating groups with their rows, those with most violations first."""

    def __init__(self, engine: Engine[Any], table: Opened, keys: Sequence[str], most: int) -> None:
        self._engine, self._table, self._keys, self._most = engine, table, keys, most

    def groups(self, found: DependencyCheck) -> list[dict[str, Any]]:
        order = np.argsort(-found.violating.violations, kind="stable")[: self._most]
        return [self._group(found, int(number)) for number in order]

    def _group(self, found: DependencyCheck, number: int) -> dict[str, Any]:
        rows = found.violating.group(number)
        columns = list(dict.fromkeys([*found.fd.attributes, *self._keys]))
        values = self._engine.rows(self._table, rows, columns).to_pydict()
        keys = [values[key] for key in self._keys]
        named = {"key": keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))} if keys else {}
        listed = {"row": rows.tolist(), **named, "value": values[found.fd.rhs]}
        return {
            "x": {attribute: values[attribute][0] for attribute in found.fd.lhs},
            "violations": int(found.violating.violations[number]),
            "values": [{"value": value, "rows": count} for value, count in Counter(values[found.fd.rhs]).most_common()],
            "rows": [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)],
        }


def _print(found: Check, document: dict[str, Any]) -> None:
    table = plain_table("dependency", "violations", "groups", numbers=("violations", "groups"))
    for d in found.dependencies:
        colour = "red" if d.violations else "green"
        table.add_row(printable(str(d.fd)), Text(f"{d.violations:,}", style=colour), f"{d.groups:,}")
    out.print(table)
    for dependency in document["dependencies"]:
        for group in dependency.get("violating_groups", ()):
            _print_group(dependency["fd"], group)
    if found.consistent and not found.classes:
        out.print(Text.assemble("\n", ("consistent", "green"), f": {found.rows:,} rows"))
        return
    cells = sum(len(c.rows) for c in found.classes.cells.values())
    number = counted(len(found.classes), "class", "classes")
    out.print(f"\n{number} to repair: {counted(cells, 'cell')} in {counted(found.rows, 'row')}; most errors first:")
    classes = plain_table("attribute", "errors", "cells", "rows", numbers=("errors", "cells"))
    for c in list(found.classes[i] for i in range(min(SHOWN, len(found.classes)))):
        some = ", ".join(map(str, c.rows[:8].tolist())) + (", …" if len(c.rows) > 8 else "")
        classes.add_row(printable(c.attribute), f"{c.errors:,}", f"{len(c.rows):,}", some)
    out.print(classes)
    if len(found.classes) > SHOWN:
        out.print(f"… and {len(found.classes) - SHOWN:,} more (all of them with --json)")


def _print_group(fd: str, group: dict[str, Any]) -> None:
    x = ", ".join(f"{attribute} = {value}" for attribute, value in group["x"].items())
    count = counted(group["violations"], "violation")
    out.print("\n" + printable(f"{x}: {count} of {fd}"))
    often = {value["value"]: value["rows"] for value in group["values"]}
    shown = _told_apart(often)
    told = [f"{shown[value] or '(empty)'} × {rows:,}" for value, rows in often.items()]
    out.print(", ".join(told[:SHOWN]) + (f", … and {len(told) - SHOWN:,} more values" if len(told) > SHOWN else ""))
    table = plain_table(*group["rows"][0])
    listed = group["rows"]
    if len(listed) > SHOWN:  # those with rare values first: they are the ones to look at
        listed = sorted(listed, key=lambda row: often[row["value"]])
    for row in listed[:SHOWN]:
        table.add_row(*(shown[value] if name == "value" else _shown(value) for name, value in row.items()))
    out.print(table)
    if len(listed) > SHOWN:
        out.print(f"… and {len(listed) - SHOWN:,} more rows")


def _told_apart(values: Iterable[str | None]) -> dict[str | None, str]:
    """Values, cut where they are long; those that would then look alike have what differs."""
    shown = {value: _shown(value) for value in values}
    often = Counter(shown.values())
    alike = sorted(value for value, text in shown.items() if value and often[text] > 1)
    for one, other in pairwise(alike):
        if _shown(one) == _shown(other):
            letters = enumerate(zip(printable(one), printable(other), strict=False))
            start = next((n for n, (a, b) in letters if a != b), min(len(one), len(other))) - BEFORE
            shown |= {value: _shown(f"…{printable(value)[start:]}") for value in (one, other)}
    return shown


def _shown(value: int | str | tuple[str | None, ...] | None) -> str:
    """A row's number, key (of one column, or several) or value, cut where it is long."""
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value))
    return str(value) if isinstance(value, int) else cut(printable(value))
