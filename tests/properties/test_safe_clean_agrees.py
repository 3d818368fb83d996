"""SafeClean on counts that are kept does what SafeClean does that recounts all pairs and asks one quote at a time."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_fds, to_hierarchies, to_hierarchy, to_relation
from oracles.cleaning import Dependency, violations
from oracles.markets import DrawnMarket, LiteralMarketplace, literal_offers, published_tree
from oracles.safe_clean import Market, Offer, Result, Settings, safe_clean
from oracles.strategies import UNKNOWN, dependencies, relations, values_of
from oracles.tree import Tree, Value
from oracles.worlds import World, fragile_worlds, worlds

from pacas.client.classes import changing_groups
from pacas.client.classes.check import check
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol import messages

ENGINE = DuckEngine(threads=1)
ROOMLESS = DuckEngine(threads=1)
"""One that gives no room to hold a relation: it is asked instead."""
ROOMLESS.holdable_bytes = 0
ENGINES = st.sampled_from([ENGINE, ROOMLESS])

Rows = list[dict[str, Value]]


MANY = st.sampled_from([0, changing_groups.MANY_BATCHES])
"""Both ways to keep the counts of groups that tuples leave and join: recount whole groups, or count batches."""


def choices(attributes: str, size: int, most_budget: int) -> st.SearchStrategy[Settings]:
    """All that can be chosen; half of the budgets are tight."""
    cell = st.tuples(st.integers(0, size - 1), st.sampled_from(attributes))
    return st.builds(
        Settings,
        budget=st.integers(0, 60) | st.integers(0, most_budget),
        max_level=st.dictionaries(st.sampled_from(attributes), st.integers(0, 5)),
        allocation=st.sampled_from(["errors", "errors", "harmonic", "uniform"]),
        prefer=st.sampled_from(["finest", "finest", "coarsest"]),
        repair=st.sampled_from(["refine", "replace", "ground"]),
        rounds=st.integers(1, 3),
        named=st.just(frozenset()) | st.frozensets(cell, max_size=4),
    )


def fast(
    rows: Rows,
    fds: list[Dependency],
    trees: dict[str, Tree],
    marketplace: LiteralMarketplace,
    chosen: Settings,
    engine: DuckEngine,
) -> Cleaning:
    client = SafeClean(
        to_fds(fds),
        f"{chosen.budget / 10**9:.9f}",
        hierarchies=to_hierarchies(trees),
        max_level=chosen.max_level,
        allocation=chosen.allocation,
        prefer=chosen.prefer,
        repair=chosen.repair,
        rounds=chosen.rounds,
        cells=chosen.named,
    )
    return client.clean(to_relation(rows), marketplace, engine=engine)


def compare(result: Cleaning, expected: Result, rows: Rows, fds: list[Dependency], trees: dict[str, Tree]) -> None:
    assert result.relation.table.to_pylist() == expected.rows
    bought = [
        (p.attribute, p.rows.tolist(), p.row, p.level, p.value, p.price, r.new)
        for p, r in zip(result.purchases, result.repairs, strict=True)
    ]
    assert bought == expected.bought
    assert [(u.attribute, u.rows.tolist(), u.reason) for u in result.unrepaired] == expected.unrepaired
    assert result.budget_nanocredits - result.spent_nanocredits == expected.remaining >= 0
    assert result.violations_before == sum(len(violations(rows, fd, trees)) for fd in fds)
    assert result.violations_after == sum(len(violations(expected.rows, fd, trees)) for fd in fds)


def agree(
    rows: Rows,
    fds: list[Dependency],
    trees: dict[str, Tree],
    offered: dict[str, messages.Offer],
    market: Market,
    chosen: Settings,
    many: int,
    engine: DuckEngine = ENGINE,
) -> None:
    plain = {a: Offer(offer.columns, offer.hierarchy.height) for a, offer in offered.items()}
    expected = safe_clean(rows, fds, trees, plain, deepcopy(market), "ann", chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changing_groups, "MANY_BATCHES", many)
        result = fast(rows, fds, trees, LiteralMarketplace(market, offered), chosen, engine)
    compare(result, expected, rows, fds, trees)


# ---- drawn prices ---------------------------------------------------------------------------------------------------


@st.composite
def drawn(draw: st.DrawFn, fds: list[Dependency] | None = None, max_rows: int = 10) -> tuple[Any, ...]:
    """A client's relation, and a market that sells most of its columns."""
    rows, trees = draw(relations(max_rows=max_rows))
    dependencies_ = fds or draw(dependencies())
    for a in "ABCD":  # the market publishes a hierarchy for what it sells, the client's own or one of its values
        if a not in trees:
            trees[a] = Tree([[v, "*"] for v in ("a", "b", "d")])
    sold = [a for a in "ABCD" if draw(st.sampled_from([True, True, True, False]))]
    offered = {}
    for a in sold:
        columns = draw(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=2, unique=True))
        offered[a] = messages.Offer(a, tuple(columns), to_hierarchy(trees[a]))
    refusals = draw(st.sampled_from([0.0, 0.2, 0.5]))
    market = DrawnMarket(draw(st.integers(0, 10**6)), trees, refusals=refusals)
    return rows, dependencies_, trees, offered, market, draw(choices("ABCD", len(rows), 400)), draw(MANY), draw(ENGINES)


@examples(90)
@given(drawn())
def test_any_dependencies(case: tuple[Any, ...]) -> None:
    agree(*case)


@examples(70)
@given(drawn([Dependency(("A",), "B"), Dependency(("B",), "C"), Dependency(("C", "A"), "D")], max_rows=14))
def test_dependencies_that_chain(case: tuple[Any, ...]) -> None:
    """Repairs of B and C move tuples between the groups of B → C and of C, A → D."""
    agree(*case)


@examples(50)
@given(drawn([Dependency(("A",), "B"), Dependency(("B",), "A"), Dependency(("D",), "B")], max_rows=14))
def test_dependencies_in_a_circle_and_with_a_shared_right_side(case: tuple[Any, ...]) -> None:
    agree(*case)


@examples(25)
@given(drawn([Dependency(("A",), "C"), Dependency(("B",), "C")], max_rows=14))
def test_dependencies_that_share_a_right_side(case: tuple[Any, ...]) -> None:
    agree(*case)


# ---- a literal provider ---------------------------------------------------------------------------------------------


@st.composite
def clients(draw: st.DrawFn, world: World) -> tuple[Any, ...]:
    """A dirty copy of the provider's rows, under the names by which they are found, and dependencies over it."""
    provider = world.provider()
    copies = draw(st.lists(st.sampled_from(world.rows), min_size=2, max_size=7))
    renamed = {c.client: c.provider for match in world.matches.values() for c in match}
    rows = [{**row, **{name: row[column] for name, column in renamed.items()}} for row in copies]
    trees = {a: published_tree(provider, a) for a in world.matches}
    for row in rows:
        for a in sorted(world.matches):
            if draw(st.booleans()):
                row[a] = draw(values_of(trees[a]) | st.sampled_from([*UNKNOWN, row[a]]))
    columns = list(rows[0])
    sold = st.sampled_from(sorted(world.matches))
    fds = []
    for b in [draw(sold), *draw(st.lists(st.sampled_from(columns), max_size=2))]:
        x = draw(st.lists(st.sampled_from([c for c in columns if c != b]), min_size=1, max_size=2, unique=True))
        if Dependency(tuple(sorted(x)), b) not in fds:
            fds.append(Dependency(tuple(sorted(x)), b))
    return rows, fds, trees, literal_offers(provider), provider, draw(choices("GM", len(rows), 5000)), draw(MANY)


@examples(40)
@given(worlds().flatmap(clients))
def test_buying_from_a_literal_provider(case: tuple[Any, ...]) -> None:
    agree(*case)


@examples(25)
@given(fragile_worlds().flatmap(clients))
def test_buying_from_a_provider_that_soon_has_nothing_safe_to_sell(case: tuple[Any, ...]) -> None:
    agree(*case)


# ---- what holds of every cleaning -----------------------------------------------------------------------------------


@examples(25)
@given(drawn())
def test_the_counts_kept_are_those_of_a_new_check(case: tuple[Any, ...]) -> None:
    rows, fds, trees, offered, market, chosen, _, engine = case
    result = fast(rows, fds, trees, LiteralMarketplace(market, offered), chosen, engine)
    again = check(result.relation, to_fds(fds), to_hierarchies(trees), engine=ENGINE)
    assert result.violations_after == again.violations
    assert 0 <= result.spent_nanocredits == sum(p.price for p in result.purchases) <= chosen.budget
