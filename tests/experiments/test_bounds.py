"""The two bounds: what a client can do without a purchase, and with everything for the asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_fds, to_hierarchies, to_relation
from oracles.cleaning import Dependency, unresolved
from oracles.greedy_repair import majority
from oracles.strategies import dependencies, relations
from oracles.tree import Tree, Value

from pacas.client.outcome.score import score
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.experiments.baselines.bounds import no_privacy, no_purchase

ENGINE = DuckEngine(threads=1)

MED = Hierarchy.from_rows([("a", "AB", "*"), ("b", "AB", "*"), ("c", "CD", "*"), ("d", "CD", "*")])


def majorities(
    columns: Mapping[str, Sequence[Value]], fds: str, hierarchies: dict[str, Hierarchy] | None = None
) -> list[Value]:
    found: list[Value] = no_purchase(Relation.of(columns), fds, hierarchies, engine=ENGINE).table["B"].to_pylist()
    return found


def test_a_class_gets_the_value_of_most_of_its_cells() -> None:
    assert majorities({"X": ["x"] * 3 + ["y"], "B": ["a", "b", "b", "a"]}, "X -> B") == ["b", "b", "b", "a"]


def test_a_tie_goes_to_the_value_that_stands_first() -> None:
    assert majorities({"X": ["x"] * 4, "B": ["b", "a", "a", "b"]}, "X -> B") == ["b"] * 4


def test_a_null_is_no_evidence() -> None:
    assert majorities({"X": ["x"] * 3, "B": [None, None, "a"]}, "X -> B") == ["a"] * 3


def test_comparable_values_are_left_alone() -> None:
    assert majorities({"X": ["x"] * 3, "B": ["a", "AB", "a"]}, "X -> B", {"B": MED}) == ["a", "AB", "a"]


def test_a_number_keeps_the_spelling_that_stands_first() -> None:
    ages = Hierarchy.from_rows([("1", "*"), ("2", "*")], numeric=True)
    columns = {"X": ["x"] * 3, "B": ["1.0", "1", "2"]}
    assert majorities(columns, "X -> B", {"B": ages}) == ["1.0", "1", "1.0"]


@examples(80)
@given(relations(hierarchies="A"), dependencies())
def test_majorities_are_those_of_the_literal_classes(
    case: tuple[list[dict[str, Value]], dict[str, Tree]], fds: list[Dependency]
) -> None:
    rows, trees = case
    found = no_purchase(to_relation(rows), to_fds(fds), to_hierarchies(trees), engine=ENGINE).table.to_pylist()
    expected = [dict(row) for row in rows]
    for attribute, members, _ in unresolved(rows, fds, trees):
        if attribute not in trees or not trees[attribute].numeric:
            for i in members:
                expected[i][attribute] = majority(rows, members, attribute)
        else:  # spelling apart
            for i in members:
                expected[i][attribute] = found[i][attribute]
    assert found == expected


TRUTH = Relation.of({"X": [f"x{i // 3}" for i in range(12)], "B": ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"] * 3})


def dirty(wrong: dict[int, str]) -> Relation:
    values = [wrong.get(i, v) for i, v in enumerate(TRUTH.table["B"].to_pylist())]
    return Relation.of({"X": TRUTH.table["X"], "B": values})


def test_everything_for_the_asking_brings_the_truth_back_at_level_0() -> None:
    relation = dirty({0: "b", 1: "b", 4: "d", 9: "a"})
    cleaning = no_privacy(relation, TRUTH, "X -> B", {"B": "X = X"}, {"B": MED}, engine=ENGINE)
    assert cleaning.relation.table.equals(TRUTH.table)
    assert {purchase.level for purchase in cleaning.purchases} == {0}
    assert not cleaning.unrepaired


@examples(25)
@given(st.dictionaries(st.integers(0, 11), st.sampled_from("abcd")))
def test_the_bounds_bound_each_other(wrong: dict[int, str]) -> None:
    relation, trees = dirty(wrong), {"B": MED}
    bought = no_privacy(relation, TRUTH, "X -> B", {"B": "X = X"}, trees, engine=ENGINE).relation
    free = no_purchase(relation, "X -> B", trees, engine=ENGINE)
    upper, lower = (score(found, TRUTH, hierarchies=trees, engine=ENGINE).repair_error for found in (bought, free))
    assert upper <= lower


def test_a_tuple_that_the_provider_does_not_have_stays() -> None:
    relation = Relation.of({"X": ["z", "z"], "B": ["a", "b"]})
    cleaning = no_privacy(relation, TRUTH, "X -> B", {"B": "X = X"}, {"B": MED}, engine=ENGINE)
    assert cleaning.relation.table.equals(relation.table)
    assert cleaning.reasons == {"no_match": 1}
