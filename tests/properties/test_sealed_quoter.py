"""Sealed quotes: a function of what is public, safe by the literal definition whatever is bought; worth the total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanes import many_examples
from oracles import criteria as literal
from oracles.bridge import to_hierarchy
from oracles.strategies import criteria, numbered_rows, tree_rows
from oracles.tree import Tree

from pacas.core.anonymity import Policy
from pacas.core.criteria.named import criterion_named
from pacas.core.dependency import MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.component import Component
from pacas.core.sealed.coverage import NeighbourSpread
from pacas.engine.codes import CodedColumn
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Request
from pacas.protocol.order_of_checks import judged
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.open_rows import OpenRows
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.public_view import PublicView, Reserve
from pacas.provider.quoter.quoter import Quoter

TOTAL = 10**9
Row = tuple[str, str, str]


class World(NamedTuple):
    """Two sold attributes, found by K; policies on X; perhaps a dictionary, perhaps a dependency from Z."""

    hierarchies: dict[str, Hierarchy]
    rows: list[Row]
    dictionary: list[tuple[str, ...]] | None
    tied: bool
    policies: list[Policy]
    spread: NeighbourSpread
    reserve: Reserve
    absent: int | None = None
    """How many of the rows are in a registry alone; None without one."""

    @property
    def domain(self) -> list[tuple[str, ...]]:
        a, b = (self.hierarchies[name].ground_labels for name in "AB")
        return self.dictionary or [*product(a, b)]

    def quoter(self, order: list[int] | None = None) -> Quoter:
        rows = [self.rows[i] for i in order or range(len(self.rows))]
        index = PublicIndex({name: coded([row[n] for row in rows]) for n, name in enumerate("KXZ")})
        if self.dictionary is None:
            components = [LinkedAttributes((Component.of_attribute(name, self.hierarchies[name]),)) for name in "AB"]
        else:
            components = [LinkedAttributes((Component.of_tuples(self.hierarchies, self.dictionary),))]
        if self.absent is not None:
            components = [one.or_absent(len(rows) - self.absent, self.absent) for one in components]
        match = dict.fromkeys("AB", MatchingDependency.parse("K = K"))
        left = dict.fromkeys("AB", ("Z",)) if self.tied else {}
        return Quoter(
            PublicView(
                self.hierarchies,
                components,
                match,
                self.policies,
                TOTAL,
                index,
                left,
                spread=self.spread,
                reserve=self.reserve,
                salt=b"test",
            )
        )


def coded(texts: list[str]) -> CodedColumn:
    values = sorted(set(texts))
    return CodedColumn(np.array([values.index(text) for text in texts], dtype=np.int64), list(values))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    hierarchies = {name: draw(_trees()) for name in "AB"}
    few = st.integers(0, draw(st.sampled_from([2, 20])))
    rows = draw(st.lists(st.tuples(few.map("k{}".format), _few("x"), _few("z")), min_size=1, max_size=9))
    ground = [*product(*(h.ground_labels for h in hierarchies.values()))]
    dictionary = draw(st.none() | st.lists(st.sampled_from(ground), min_size=2, max_size=6, unique=True))
    tied = draw(st.booleans())
    world = World(
        hierarchies,
        rows,
        dictionary,
        tied,
        [],
        draw(st.sampled_from(NeighbourSpread)),
        draw(st.sampled_from(Reserve)),
        None if tied else draw(st.none() | st.integers(0, len(rows) - 1)),
    )
    policies = []
    for y in draw(st.lists(st.sampled_from([("A",), ("B",), ("A", "B")]), max_size=2, unique=True)):
        levels = {name: draw(st.integers(0, hierarchies[name].height - 1)) for name in y}
        criterion = criterion_named(*draw(criteria()))
        policy = Policy(("X",), y, levels, 2, True, draw(st.integers(1, 2)), draw(_scopes()), criterion)
        one_component = len(y) == 1 or dictionary is not None or policy.must_hold.spans_components
        if one_component and _holds(world, policy, world.domain):
            policies.append(policy)
    return world._replace(policies=policies)


def _holds(world: World, policy: Policy, possible: Iterable[tuple[str, ...]]) -> bool:
    """By the literal definition: is a row protected for which these tuples are possible, all alike?"""
    left, overall = (Counter(_shown(world, v, policy.y_levels) for v in found) for found in (possible, world.domain))
    return literal.holds(policy.must_hold.name, policy.must_hold.parameters, left, overall)


def _trees() -> st.SearchStrategy[Hierarchy]:
    rows = tree_rows(max_height=3) | numbered_rows(max_height=3)
    trees = rows.map(lambda rows: to_hierarchy(Tree(rows)))
    return trees.filter(lambda tree: 2 <= len(tree.ground_labels) <= 8)


def _few(letter: str) -> st.SearchStrategy[str]:
    return st.integers(0, 2).map((letter + "{}").format)


def _scopes() -> st.SearchStrategy[str]:
    return st.sampled_from(["group", "group", "row"])


def _shown(world: World, values: tuple[str, ...], levels: Mapping[str, int]) -> tuple[str | None, ...]:
    return tuple(world.hierarchies[a].generalize_value(values["AB".index(a)], level) for a, level in levels.items())


def ladders(quoter: Quoter, attribute: str, asked: Columns, bought: BoughtLevels, opened: OpenRows) -> list[list[int]]:
    """Prices and refusals, with the order of checks that every shop has."""
    found = quoter.finders[attribute].find(asked)
    prices, floors = quoter.prices(attribute, found.units, bought), quoter.floors(attribute, found.units, opened)
    told: list[list[int]] = judged(prices, found.matches, found.never_below, floors).tolist()
    return told


def everything(quoter: Quoter, world: World, bought: BoughtLevels) -> list[list[list[int]]]:
    asked = {"K": [*sorted({row[0] for row in world.rows}), "nobody", None]}
    return [ladders(quoter, a, asked, bought, OpenRows()) for a in "AB"]


@many_examples(2000)
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_is_not_seen(world: World, random) -> None:
    order = list(range(len(world.rows)))
    random.shuffle(order)
    one, other = world.quoter(), world.quoter(order)
    assert everything(one, world, BoughtLevels()) == everything(other, world, BoughtLevels())


@many_examples(2000)
@given(worlds())
def test_all_cells_together_cost_the_total(world: World) -> None:
    quoter, everything, spent = world.quoter(), BoughtLevels(), 0
    for priced in quoter.components:
        for place, unit in product(range(len(priced.linked.attributes)), range(len(priced.units))):
            spent += quoter.price(priced.linked.attributes[place], unit, 0, everything)
            everything.learn(priced, place, unit, 0)
    assert spent == TOTAL


@many_examples(2000)
@given(worlds().filter(lambda world: world.absent is None), st.data())
def test_everything_that_is_sold_leaves_enough_by_the_literal_definition(world: World, data: st.DataObject) -> None:
    """Who pools all that can be bought, and knows index and dependencies, still knows too little of enough rows."""
    tie = [row[2] for row in world.rows] if world.tied else list(range(len(world.rows)))
    truth = {one: data.draw(st.sampled_from(world.domain)) for one in dict.fromkeys(tie)}
    possible = {one: set(world.domain) for one in truth}
    quoter = world.quoter()
    opened = OpenRows()
    for attribute, key in product("AB", sorted({row[0] for row in world.rows})):
        (ladder,) = ladders(quoter, attribute, {"K": [key]}, BoughtLevels(), opened)
        finest = next(level for level, price in enumerate(ladder) if price >= 0)
        told = {attribute: finest}
        unit, _, _ = quoter.finders[attribute].find_one(Request({"K": key}, attribute, finest))
        if unit >= 0:
            opened.learn(quoter.watched, quoter.sold[attribute], unit, finest)
        for one in {one for one, row in zip(tie, world.rows, strict=True) if row[0] == key}:
            if finest < world.hierarchies[attribute].height:
                answer = _shown(world, truth[one], told)
                possible[one] = {values for values in possible[one] if _shown(world, values, told) == answer}
    for policy in world.policies:
        for x in {row[1] for row in world.rows}:
            rows = [one for one, row in zip(tie, world.rows, strict=True) if row[1] == x]
            enough = sum(_holds(world, policy, possible[one]) for one in rows)
            assert enough >= (len(rows) if policy.scope == "row" else min(policy.keep, len(rows)))


@many_examples(2000)
@given(worlds(), st.data())
def test_an_audit_looks_at_the_last_row_that_must_keep_a_groups_secret(world: World, data: st.DataObject) -> None:
    quoter, bought = world.quoter(), BoughtLevels()
    for attribute in "AB":
        sold = quoter.sold[attribute]
        for unit in data.draw(st.lists(st.integers(0, len(sold.priced.units) - 1), max_size=6)):
            bought.learn(sold.priced, sold.place, unit, data.draw(st.integers(0, sold.height)))
    for guard in quoter.guards:
        left = guard.values_left(bought)
        for group, kept in enumerate(guard.least_kept(bought).tolist()):
            mine = sorted(left[guard.group == group].tolist(), reverse=True)
            assert kept == mine[(len(mine) if guard.policy.scope == "row" else min(guard.policy.keep, len(mine))) - 1]


@many_examples(2000)
@given(worlds(), st.data())
def test_a_sequence_costs_what_the_bundle_costs_and_nothing_twice(world: World, data: st.DataObject) -> None:
    quoter, bought = world.quoter(), BoughtLevels()
    spent = 0
    for _ in range(6):
        priced = data.draw(st.sampled_from(quoter.components))
        unit = data.draw(st.integers(0, len(priced.units) - 1))
        place = data.draw(st.integers(0, len(priced.linked.attributes) - 1))
        attribute = priced.linked.attributes[place]
        level = data.draw(st.integers(0, world.hierarchies[attribute].height))
        spent += quoter.price(attribute, unit, level, bought)
        bought.learn(priced, place, unit, level)
        assert quoter.price(attribute, unit, level, bought) == 0
        assert all(price >= 0 for ladder in quoter.prices(attribute, np.array([unit]), bought) for price in ladder)
    bundle, again = 0, BoughtLevels()
    for priced in reversed(quoter.components):
        for unit, levels in bought.touched(priced).items():
            for place, level in reversed(list(enumerate(levels[: len(priced.linked.attributes)]))):
                if level < priced.heights[place]:
                    bundle += quoter.price(priced.linked.attributes[place], unit, level, again)
                    again.learn(priced, place, unit, level)
    assert spent == bundle
