"""`pacas demo`: the paper's running example, in the terminal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pacas import example
from pacas.cli.check import as_json
from pacas.cli.demo_files import COMMANDS, write_files
from pacas.cli.options import Json, out, print_json
from pacas.cli.tree import draw
from pacas.client.check import Check, check
from pacas.core.anonymity import Policy
from pacas.core.distance import SemanticDistance
from pacas.core.query import GeneralizedQuery
from pacas.core.relation import Relation
from pacas.engine.duck import DuckEngine
from pacas.engine.questions import anonymity, answer, semantic_distance

POLICIES = (
    Policy(("GEN", "AGE", "ZIP"), ("MED",), k=3),
    Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 1}, k=3),
)
QUERY = ("GEN:0, MED:1", "DIAG = migraine")


def command(
    files: Annotated[
        Path | None, typer.Option("--files", metavar="DIR", help="Write the example's files there instead, to try on.")
    ] = None,
    json: Json = False,
) -> None:
    """Walk through the paper's running example: violations, classes, distances, generalizations.

    JSON: check, distance, anonymity (levels, k, holds), answers; with --files: folder, files, commands

    Example: pacas demo --files example
    """
    if files is not None:
        _write(files, json)
        return
    with closing(DuckEngine()) as engine:
        _walk(engine, json)


def _walk(engine: DuckEngine, json: bool) -> None:
    found = check(example.client, [example.fd], {"MED": example.med}, engine=engine)
    delta = semantic_distance(example.provider, "AGE", example.age, engine=engine)
    kept = [anonymity(example.public, policy, {"MED": example.med}, engine=engine) for policy in POLICIES]
    answers = answer(GeneralizedQuery.parse(*QUERY), {"relation": example.provider}, example.hierarchies, engine=engine)
    if json:
        print_json(
            {
                "check": as_json(found),
                "distance": {"E([31,60])": delta.penalty("[31,60]"), "δ(45,51)": delta("45", "51")},
                "anonymity": [{"levels": dict(a.policy.levels), "k": a.k, "holds": a.holds} for a in kept],
                "answers": answers,
            }
        )
        return
    _violations(found)
    _generalizations(engine)
    _distances(delta)
    _title("4. Is a table safe to show?")
    _show(example.public)
    for policy, result in zip(POLICIES, kept, strict=True):
        verdict = ("holds", "green") if result.holds else ("fails", "red")
        what = f"linked to {policy.k} medications at level {policy.y_levels['MED']}"
        out.print(Text.assemble(f"each group of {', '.join(policy.x)} is {what}: ", verdict, f" (k = {result.k})"))
    out.print("Three different drugs, but all of one family: that is what the level is for.\n")
    _title("5. A generalized query")
    out.print(f"select {QUERY[0]} where {QUERY[1]}:")
    for row in answers:
        out.print("  " + ", ".join(map(str, row)))
    out.print("\nNext: pacas demo --files example writes these tables as files to try every command on.")


def _write(folder: Path, json: bool) -> None:
    written = write_files(folder)
    if json:
        print_json({"folder": str(folder), "files": list(written), "commands": list(COMMANDS)})
        return
    out.print(f"In {folder}:")
    width = max(map(len, written)) + 2
    for name, what in written.items():
        out.print(f"  {name:{width}}{what}")
    out.print(f"\nTry, after cd {folder}:")
    for line in COMMANDS:
        out.print(f"  {line}")


def _title(text: str) -> None:
    out.print(Rule(Text(text, style="bold"), align="left"), width=80)


def _violations(found: Check) -> None:
    _title("1. A client's dirty table")
    doubtful = {(int(row), c.attribute) for c in found.classes for row in c.rows}
    _show(example.client, doubtful)
    groups = found.dependencies[0].groups
    violated = f" should hold. {found.violations} pairs of tuples violate it, in {groups} groups."
    out.print(Text.assemble((str(example.fd), "bold"), violated))
    out.print("The cells of a class must end up equal; the class with most errors is repaired first:")
    for c in found.classes:
        cells = ", ".join(f"t{row + 1}" for row in c.rows.tolist())
        out.print(f"  {c.attribute} of {cells}: in {c.errors} violating pair{'s' if c.errors != 1 else ''}")
    out.print()


def _generalizations(engine: DuckEngine) -> None:
    _title("2. Values, from ground to root")
    out.print(draw(example.med))
    repaired = {name: list(column) for name, column in example.client.table.to_pydict().items()}
    for value in ("NSAID", "vasodilators"):
        repaired["MED"][1] = value
        pair = Relation.of({name: column[:2] for name, column in repaired.items()})
        agree = check(pair, [example.fd], {"MED": example.med}, engine=engine).consistent
        verdict = ("agree", "green") if agree else ("do not agree", "red")
        out.print(Text.assemble(f"With t2's medication set to {value}, t1 (ibuprofen) and t2 ", verdict, "."))
    out.print()


def _distances(delta: SemanticDistance) -> None:
    _title("3. How much a general value loses")
    out.print(f"E([31,60]) = {delta.penalty('[31,60]'):.3f}")
    for v, w in (("51", "[31,60]"), ("45", "51"), ("45", "67")):
        out.print(f"δ({v}, {w}) = {delta(v, w):.3f}, by way of {delta.lca(v, w)}")
    out.print()


def _show(relation: Relation, marked: set[tuple[int, str]] | None = None) -> None:
    table = Table(*relation.columns, box=None, pad_edge=False)
    for number, row in enumerate(relation.table.to_pylist()):
        styles = ("red" if (number, name) in (marked or ()) else "" for name in row)
        table.add_row(*(Text(str(value), style=style) for value, style in zip(row.values(), styles, strict=True)))
    out.print(table)
