"""`pacas demo`: the paper's running example, in the terminal."""

from __future__ import annotations

from rich.table import Table

from pacas import example
from pacas.cli.check import as_json
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


def command(json: Json = False) -> None:
    """Walk through the paper's running example: violations, classes, distances, generalizations.

    Example: pacas demo
    """
    engine = DuckEngine()
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
    _generalizations()
    _distances(delta)
    out.rule("[bold]4. Is a table safe to show?[/]", align="left")
    _show(example.public)
    for policy, result in zip(POLICIES, kept, strict=True):
        verdict = "[green]holds[/]" if result.holds else "[red]fails[/]"
        what = f"linked to {policy.k} medications at level {policy.y_levels['MED']}"
        out.print(f"each group of {', '.join(policy.x)} is {what}: {verdict} (k = {result.k})")
    out.print("Three different drugs, but all of one family: that is what the level is for.\n")
    out.rule("[bold]5. A generalized query[/]", align="left")
    out.print(f"select {QUERY[0]} where {QUERY[1]}:", markup=False)
    for row in answers:
        out.print("  " + ", ".join(map(str, row)), markup=False)
    out.print("\nNext: pacas check YOUR.csv --fd 'A, B -> C', and pacas --help", markup=False)


def _violations(found: Check) -> None:
    out.rule("[bold]1. A client's dirty table[/]", align="left")
    doubtful = {(int(row), c.attribute) for c in found.classes for row in c.rows}
    _show(example.client, doubtful)
    groups = found.dependencies[0].groups
    out.print(f"[bold]{example.fd}[/] should hold. {found.violations} pairs of tuples violate it, in {groups} groups.")
    out.print("The cells of a class must end up equal; the class with most errors is repaired first:")
    for c in found.classes:
        cells = ", ".join(f"t{row + 1}" for row in c.rows.tolist())
        out.print(f"  {c.attribute} of {cells}: in {c.errors} violating pair{'s' if c.errors != 1 else ''}")
    out.print()


def _generalizations() -> None:
    out.rule("[bold]2. Values, from ground to root[/]", align="left")
    out.print(draw(example.med))
    repaired = {name: list(column) for name, column in example.client.table.to_pydict().items()}
    for value in ("NSAID", "vasodilators"):
        repaired["MED"][1] = value
        pair = Relation.of({name: column[:2] for name, column in repaired.items()})
        agree = check(pair, [example.fd], {"MED": example.med}).consistent
        verdict = "[green]agree[/]" if agree else "[red]do not agree[/]"
        out.print(f"With t2's medication set to {value}, t1 (ibuprofen) and t2 {verdict}.")
    out.print()


def _distances(delta: SemanticDistance) -> None:
    out.rule("[bold]3. How much a general value loses[/]", align="left")
    out.print(f"E([31,60]) = {delta.penalty('[31,60]'):.3f}", markup=False)
    for v, w in (("51", "[31,60]"), ("45", "51"), ("45", "67")):
        out.print(f"δ({v}, {w}) = {delta(v, w):.3f}, by way of {delta.lca(v, w)}", markup=False)
    out.print()


def _show(relation: Relation, marked: set[tuple[int, str]] | None = None) -> None:
    table = Table(*relation.columns, box=None, pad_edge=False)
    for number, row in enumerate(relation.table.to_pylist()):
        cells = ((name, str(value).replace("[", "\\[")) for name, value in row.items())
        table.add_row(*(f"[red]{text}[/]" if (number, name) in (marked or ()) else text for name, text in cells))
    out.print(table)
