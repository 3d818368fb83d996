"""The running example before anything is sold: what contradicts itself, what general values mean, what may be shown.

Paper: Tables 1–3, Figures 1 and 2, §2 and §3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.text import Text

from pacas import example
from pacas.cli.check import as_json as check_as_json
from pacas.cli.demo.show import show, title, tuples
from pacas.cli.options import out
from pacas.cli.tree import draw
from pacas.client.classes.check import Check, check
from pacas.core.anonymity import Anonymity, Policy
from pacas.core.distance import SemanticDistance
from pacas.core.query import GeneralizedQuery
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.questions import anonymity, answer, semantic_distance

POLICIES = (
    Policy(("GEN", "AGE", "ZIP"), ("MED",), k=3),
    Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 1}, k=3),
)
QUERY = ("GEN:0, MED:1", "DIAG = migraine")


@dataclass(frozen=True, slots=True)
class Values:
    """What was asked about the example's tables."""

    check: Check
    delta: SemanticDistance
    kept: list[Anonymity]
    answers: list[list[str | None]]

    def as_json(self) -> dict[str, Any]:
        delta = self.delta
        return {
            "check": check_as_json(self.check),
            "distance": {"E([31,60])": delta.penalty("[31,60]"), "δ(45,51)": delta("45", "51")},
            "anonymity": [{"levels": dict(a.policy.levels), "k": a.k, "holds": a.holds} for a in self.kept],
            "answers": self.answers,
        }


def ask(engine: DuckEngine) -> Values:
    hierarchies = {"MED": example.med}
    query = GeneralizedQuery.parse(*QUERY)
    return Values(
        check(example.client, [example.fd], hierarchies, engine=engine),
        semantic_distance(example.provider, "AGE", example.age, engine=engine),
        [anonymity(example.public, policy, hierarchies, engine=engine) for policy in POLICIES],
        answer(query, {"relation": example.provider}, example.hierarchies, engine=engine),
    )


def tell(values: Values, engine: DuckEngine) -> None:
    _violations(values.check)
    _generalizations(engine)
    _distances(values.delta)
    _anonymity(values)


def _violations(found: Check) -> None:
    title("1. A client's dirty table")
    show(example.client, {(int(row), c.attribute) for c in found.classes for row in c.rows})
    groups = found.dependencies[0].groups
    violated = f" should hold. {found.violations} pairs of tuples violate it, in {groups} groups."
    out.print(Text.assemble((str(example.fd), "bold"), violated))
    out.print("The cells of a class must end up equal; most errors are repaired first:")
    for c in found.classes:
        errors = f"in {c.errors} violating pair{'s' if c.errors != 1 else ''}"
        out.print(f"  {c.attribute} of {tuples(c.rows.tolist())}: {errors}")
    out.print()


def _generalizations(engine: DuckEngine) -> None:
    title("2. Values, from ground to root")
    out.print(draw(example.med))
    repaired = {name: list(column) for name, column in example.client.table.to_pydict().items()}
    for value in ("NSAID", "vasodilators"):
        repaired["MED"][1] = value
        pair = Relation.of({name: column[:2] for name, column in repaired.items()})
        agree = check(pair, [example.fd], {"MED": example.med}, engine=engine).consistent
        verdict = ("agree", "green") if agree else ("do not agree", "red")
        out.print(Text.assemble(f"With t2's medication set to {value}, t1 (ibuprofen) and t2 ", verdict, "."))


def _distances(delta: SemanticDistance) -> None:
    out.print(f"A general value says less. Of ages: E([31,60]) = {delta.penalty('[31,60]'):.3f}, and")
    for v, w in (("51", "[31,60]"), ("45", "51"), ("45", "67")):
        out.print(f"  δ({v}, {w}) = {delta(v, w):.3f}, by way of {delta.lca(v, w)}")
    out.print()


def _anonymity(values: Values) -> None:
    title("3. A provider's table, and what it may show")
    show(example.public)
    for policy, result in zip(POLICIES, values.kept, strict=True):
        verdict = ("holds", "green") if result.holds else ("fails", "red")
        what = f"linked to {policy.k} medications at level {policy.y_levels['MED']}"
        out.print(Text.assemble(f"each group of {', '.join(policy.x)} is {what}: ", verdict, f" (k = {result.k})"))
    out.print("Three different drugs, but all of one family: that is what the level is for.")
    said = "; ".join(", ".join(map(str, row)) for row in values.answers)
    out.print(f"A generalized query, select {QUERY[0]} where {QUERY[1]}:\n  {said}\n")
