"""What is suggested as a policy leaves for sale just what it says: a provider opened on it is asked for every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import many_examples

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.protocol.messages import Quote
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.policies.per_cell import per_cell_for
from pacas.suggest.policies.suggested import PolicyPoint, SuggestedPolicy
from pacas.suggest.policies.suggesting import suggest_policy

ENGINE = DuckEngine(threads=1)
DRUGS = Hierarchy.from_rows([(f"{family}{i}", family, "*") for family in "abc" for i in range(4)])
"""Twelve values in three families of four."""


def coded(columns: dict[str, list[str | None]]) -> CodedTable:
    return CodedTable.read(ENGINE, pacas.Relation.of(columns))


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """Uneven trees of two or three levels below the root."""
    rows = []
    for top in range(draw(st.integers(1, 3))):
        for middle in range(draw(st.integers(1, 3))):
            labels = (f"m{top}{middle}", f"t{top}")
            rows += [(f"g{top}{middle}{ground}", *labels, "*") for ground in range(draw(st.integers(1, 4)))]
    is_low = draw(st.booleans())
    return Hierarchy.from_rows([(row[0], row[1], row[-1]) for row in rows] if is_low else rows)


@st.composite
def markets(draw: st.DrawFn) -> tuple[Hierarchy, dict[str, list[str | None]], list[str], list[str], bool, str]:
    """A tree, a table of people, X, a match, whether it ties rows, and the scope."""
    tree = draw(trees())
    rows = draw(st.integers(1, 25))

    def column(most: int, nulls: bool) -> list[str | None]:
        some = st.sampled_from([f"v{i}" for i in range(most)])
        cells = draw(st.lists(st.one_of(some, some, st.none()) if nulls else some, min_size=rows, max_size=rows))
        return list(cells)

    keys: list[str | None] = [str(i) for i in range(rows)]
    nulls = draw(st.booleans())
    table = {"A": column(3, nulls), "B": column(6, nulls), "ID": draw(st.sampled_from([keys, column(12, nulls)]))}
    x = draw(st.sampled_from([["A"], ["B"], ["A", "B"]]))
    match = draw(st.sampled_from([x, ["ID"], ["A", "B", "ID"]]))
    can_tie = set(x) <= set(match) and not any(None in table[name] for name in match)
    tied = can_tie and draw(st.booleans())
    values = tree.ground_labels
    chosen = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
    if tied:
        of_key: dict[tuple[str | None, ...], str] = {}
        lines = zip(*(table[name] for name in match), strict=True)
        chosen = [of_key.setdefault(line, value) for line, value in zip(lines, chosen, strict=True)]
    table["C"] = list(chosen)
    return tree, table, x, match, tied, draw(st.sampled_from(["group", "row"]))


def really_sold(
    point: PolicyPoint, found: SuggestedPolicy, tree: Hierarchy, table: dict[str, list[str | None]], tied: bool
) -> tuple[float, ...]:
    """Per level the share of rows that a sealed provider quotes a price for, before any sale."""
    declared = [DeclaredDependency(FunctionalDependency(found.match, "C"))] if tied else []
    policy = pacas.Policy(
        found.x, ("C",), {"C": point.level}, point.k, allow_linkage=found.allow_linkage, scope=found.scope
    )
    provider = pacas.Provider(
        table,
        match={"C": ", ".join(f"{name} = {name}" for name in found.match)},
        policies=[policy],
        hierarchies={"C": tree},
        total=100,
        sealing=Sealing(declared),
        engine=ENGINE,
    )
    rows = [dict(zip(found.match, line, strict=True)) for line in zip(*(table[n] for n in found.match), strict=True)]
    levels = range(tree.height + 1)
    sold = [[isinstance(provider.quote(pacas.Request(row, "C", at)), Quote) for at in levels] for row in rows]
    return tuple(np.mean(sold, axis=0).tolist())


@given(markets(), st.data())
@many_examples(200)
def test_a_sealed_provider_sells_the_share_that_was_predicted(market: Any, data: st.DataObject) -> None:
    tree, table, x, match, tied, scope = market
    found = suggest_policy(coded(table), "C", tree, x, match=match, tied=tied, scope=scope)
    assert found.found.is_exact
    if not found.points:
        return
    point = data.draw(st.sampled_from(list(found.points)))
    assert really_sold(point, found, tree, table, tied) == pytest.approx(point.shares)


def refuses_somebody(tree: Hierarchy, point: PolicyPoint, per_cell: int) -> bool:
    """Whether a paper provider refuses somebody at the level that is safe, where everybody is an X-group."""
    values = tree.ground_labels
    table: dict[str, list[str]] = {"ID": [str(i) for i in range(len(values))], "C": values}
    provider = pacas.Provider(
        table,
        match={"C": "ID = ID"},
        policies=[pacas.Policy(("ID",), ("C",), {"C": point.level}, point.k)],
        hierarchies={"C": tree},
        support=pacas.Generated(per_cell=per_cell),
        engine=ENGINE,
    )
    asked = [pacas.Request({"ID": key}, "C", point.safe_level) for key in table["ID"]]
    return any(not isinstance(provider.quote(request), Quote) for request in asked)


def points_of(tree: Hierarchy) -> list[PolicyPoint]:
    values = tree.ground_labels
    return list(
        suggest_policy(coded({"ID": list(map(str, range(len(values)))), "C": list(values)}), "C", tree, ["ID"]).points
    )


@given(trees(), st.data())
@many_examples(100)
def test_with_the_neighbours_proposed_a_paper_provider_sells_everybody_from_the_safe_level_on(
    tree: Hierarchy, data: st.DataObject
) -> None:
    if points := points_of(tree):
        point = data.draw(st.sampled_from(points))
        needed = per_cell_for(tree, point.k, point.level, point.safe_level)
        assert needed is not None and not refuses_somebody(tree, point, needed)


def test_fewer_neighbours_than_proposed_are_too_few() -> None:
    point = next(point for point in points_of(DRUGS) if point.k == 4)
    assert (point.level, point.safe_level) == (0, 1)
    assert per_cell_for(DRUGS, 4, 0, 1) == 6  # three of them in the family
    assert refuses_somebody(DRUGS, point, 5) and not refuses_somebody(DRUGS, point, 6)


PEOPLE: dict[str, list[str | None]] = {
    "ID": [str(i) for i in range(48)],
    "X": [f"x{i % 4}" for i in range(48)],
    "C": [DRUGS.ground_labels[i % 12] for i in range(48)],
}


def test_who_is_found_by_x_is_sold_from_the_level_on_whose_families_hide_enough() -> None:
    found = suggest_policy(coded(PEOPLE), "C", DRUGS, ["ID"])
    assert found.chosen is not None and found.policy == pacas.Policy(("ID",), ("C",), {"C": 0}, 4)
    assert found.sold_from == found.chosen.safe_level == 1
    assert found.chosen.shares == (0, 1, 1)
    assert found.per_cell == 6


def test_who_is_found_by_more_than_x_is_sold_as_is_but_for_one_of_each_group() -> None:
    found = suggest_policy(coded(PEOPLE), "C", DRUGS, ["X"], match=["ID"])
    assert found.allow_linkage and found.sold_from == 0
    assert found.found.kept == 4 and found.found.groups == 4
    assert found.chosen is not None and (found.chosen.k, found.chosen.safe_level) == (4, 1)
    assert found.chosen.shares == pytest.approx((44 / 48, 1, 1))


def test_a_larger_share_than_is_left_at_ground_is_kept_at_a_higher_level() -> None:
    found = suggest_policy(coded(PEOPLE), "C", DRUGS, ["X"], match=["ID"], share=0.95)
    assert found.sold_from == 1


def test_a_tree_without_families_sells_nothing_to_who_is_found_by_x() -> None:
    flat = Hierarchy.flat(DRUGS.ground_labels)
    found = suggest_policy(coded(PEOPLE), "C", flat, ["ID"])
    assert found.chosen is None and found.policy is None and found.per_cell is None
    assert [point.shares for point in found.points] == [(0, 1)]


@pytest.mark.parametrize("level", [0, 1])
def test_a_level_that_is_asked_for_is_the_one_that_stays_for_sale(level: int) -> None:
    found = suggest_policy(coded(PEOPLE), "C", DRUGS, ["X"], match=["ID"], level=level)
    assert found.sold_from == level


def test_tied_rows_of_several_x_groups_are_counted_and_said_to_be_an_estimate() -> None:
    table = PEOPLE | {"KEY": [str(i // 2) for i in range(48)]}
    assert not suggest_policy(coded(table), "C", DRUGS, ["X"], match=["KEY"], tied=True).found.is_exact


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"x": ["C"]}, "cannot be what people are found or grouped by"),
        ({"x": ["AGE"]}, "AGE"),
        ({"x": ["X"], "match": []}, "nobody can be found"),
        ({"x": ["X"], "share": 0.0}, "a share is above 0"),
        ({"x": ["X"], "level": 2}, "level"),
        ({"x": ["N"], "tied": True}, "tied"),
        ({"x": ["X"], "hierarchy": Hierarchy.from_rows([("a0", "*"), ("zz", "*")])}, "44 rows have"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_one_line(options: dict[str, Any], says: str) -> None:
    table = coded({**PEOPLE, "N": [None, *PEOPLE["X"][1:]]})
    tree = options.pop("hierarchy", DRUGS)
    with pytest.raises(InputError, match=says) as error:
        suggest_policy(table, "C", tree, **options)
    assert "\n" not in str(error.value) and "a1" not in str(error.value)


def test_on_adult_a_provider_sells_what_was_predicted(shared_data: Path) -> None:
    source = pacas.scan_relation(shared_data / "adult" / "adult_full.csv.gz")
    tree = pacas.read_hierarchy(shared_data / "adult" / "hierarchies" / "adult_full_hierarchy_education.csv")
    table, match = CodedTable.read(ENGINE, source), ["sex", "race", "fnlwgt", "age"]
    found = suggest_policy(table, "education", tree, ["sex", "race"], match=match, share=0.8)
    assert found.policy is not None and found.chosen is not None
    by = {"education": ", ".join(f"{name} = {name}" for name in match)}
    trees = {"education": tree}
    provider = pacas.Provider(source, match=by, policies=[found.policy], hierarchies=trees, total=10_000, engine=ENGINE)
    tuples = {name: [table[name].values[code] for code in table[name].codes] for name in match}
    sold = np.asarray(provider.quote_batch("education", tuples).prices) >= 0
    assert tuple(sold.mean(axis=0)) == pytest.approx(found.chosen.shares)
