"""What is suggested as a policy leaves for sale just what it says: a provider opened on it is asked for every row."""

from __future__ import annotations

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
from pacas.protocol.messages import Quote
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.suggest.coded_table import CodedTable
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
@many_examples(400)
def test_a_sealed_provider_sells_the_share_that_was_predicted(market: Any, data: st.DataObject) -> None:
    tree, table, x, match, tied, scope = market
    found = suggest_policy(coded(table), "C", tree, x, match=match, tied=tied, scope=scope)
    assert found.found.is_exact
    if not found.points:
        return
    point = data.draw(st.sampled_from(list(found.points)))
    assert really_sold(point, found, tree, table, tied) == pytest.approx(point.shares)
