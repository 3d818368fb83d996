"""Sealed quotes: a function of what is public, safe by the literal definition whatever is bought; worth the total."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.bridge import to_hierarchy
from oracles.strategies import tree_rows
from oracles.tree import Tree

from pacas.core.anonymity import Policy
from pacas.core.component import Component
from pacas.core.coverage import NeighbourSpread
from pacas.core.dependency import MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import CodedColumn
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Request
from pacas.provider.quoter.bought_levels import BoughtLevels
from pacas.provider.quoter.open_rows import OpenRows
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.public_view import PublicView, Reserve
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.shop.judging import judged

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

    @property
    def domain(self) -> list[tuple[str, ...]]:
        a, b = (self.hierarchies[name].ground_labels for name in "AB")
        return self.dictionary or [*product(a, b)]

    def quoter(self, order: list[int] | None = None) -> Quoter:
        rows = [self.rows[i] for i in order or range(len(self.rows))]
        index = PublicIndex({name: coded([row[n] for row in rows]) for n, name in enumerate("KXZ")})
        if self.dictionary is None:
            components = [Component.of_attribute(name, self.hierarchies[name]) for name in "AB"]
        else:
            components = [Component.of_tuples(self.hierarchies, self.dictionary)]
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
    world = World(
        hierarchies,
        rows,
        dictionary,
        draw(st.booleans()),
        [],
        draw(st.sampled_from(NeighbourSpread)),
        draw(st.sampled_from(Reserve)),
    )
    policies = []
    for y in draw(st.lists(st.sampled_from([("A",), ("B",), ("A", "B")]), max_size=2, unique=True)):
        levels = {name: draw(st.integers(0, hierarchies[name].height - 1)) for name in y}
        policy = Policy(("X",), y, levels, draw(st.integers(2, 3)), True, draw(st.integers(1, 2)), draw(_scopes()))
        if len({_shown(world, values, levels) for values in world.domain}) >= policy.k:
            policies.append(policy)
    return world._replace(policies=policies)


def _trees() -> st.SearchStrategy[Hierarchy]:
    trees = tree_rows(max_height=3).map(lambda rows: to_hierarchy(Tree(rows)))
    return trees.filter(lambda tree: 2 <= len(tree.ground_labels) <= 8)


def _few(letter: str) -> st.SearchStrategy[str]:
    return st.integers(0, 2).map((letter + "{}").format)


def _scopes() -> st.SearchStrategy[str]:
    return st.sampled_from(["group", "group", "row"])


def _shown(world: World, values: tuple[str, ...], levels: dict[str, int]) -> tuple[str | None, ...]:
    return tuple(world.hierarchies[a].generalize_value(values["AB".index(a)], level) for a, level in levels.items())


def ladders(quoter: Quoter, attribute: str, asked: Columns, bought: BoughtLevels, opened: OpenRows) -> list[list[int]]:
    """Prices and refusals, with the order of checks that every shop has."""
    found = quoter.sold[attribute].find(asked)
    prices, floors = quoter.prices(attribute, found.units, bought), quoter.floors(attribute, found.units, opened)
    told: list[list[int]] = judged(prices, found.matches, found.never_below, floors).tolist()
    return told


def everything(quoter: Quoter, world: World, bought: BoughtLevels) -> list[list[list[int]]]:
    asked = {"K": [*sorted({row[0] for row in world.rows}), "nobody", None]}
    return [ladders(quoter, a, asked, bought, quoter.all_open()) for a in "AB"]


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_is_not_seen(world: World, random) -> None:
    order = list(range(len(world.rows)))
    random.shuffle(order)
    one, other = world.quoter(), world.quoter(order)
    assert everything(one, world, BoughtLevels()) == everything(other, world, BoughtLevels())
    assert one.view.index.digest() == other.view.index.digest()


@given(worlds())
def test_all_cells_together_cost_the_total(world: World) -> None:
    quoter = world.quoter()
    worth = 0
    for priced in quoter.components:
        finest = (0,) * len(priced.component.attributes)
        worth += sum(priced.worth(unit, finest) for unit in range(len(priced.units)))
    assert worth == TOTAL


@given(worlds(), st.data())
def test_everything_that_is_sold_leaves_enough_by_the_literal_definition(world: World, data: st.DataObject) -> None:
    """Who pools all that can be bought, and knows index, dictionary and dependencies, still has k values a group."""
    tie = [row[2] for row in world.rows] if world.tied else list(range(len(world.rows)))
    truth = {one: data.draw(st.sampled_from(world.domain)) for one in dict.fromkeys(tie)}
    possible = {one: set(world.domain) for one in truth}
    quoter = world.quoter()
    opened = quoter.all_open()
    for attribute, key in product("AB", sorted({row[0] for row in world.rows})):
        (ladder,) = ladders(quoter, attribute, {"K": [key]}, BoughtLevels(), opened)
        finest = next(level for level, price in enumerate(ladder) if price >= 0)
        told = {attribute: finest}
        unit, _, _ = quoter.sold[attribute].find_one(Request({"K": key}, attribute, finest))
        if unit >= 0:
            opened.learn(attribute, unit, finest)
        for one in {one for one, row in zip(tie, world.rows, strict=True) if row[0] == key}:
            if finest < world.hierarchies[attribute].height:
                answer = _shown(world, truth[one], told)
                possible[one] = {values for values in possible[one] if _shown(world, values, told) == answer}
    for policy in world.policies:
        for x in {row[1] for row in world.rows}:
            rows = [one for one, row in zip(tie, world.rows, strict=True) if row[1] == x]
            left = [{_shown(world, values, policy.y_levels) for values in possible[one]} for one in rows]
            enough = sum(len(values) >= policy.k for values in left)
            assert enough >= (len(rows) if policy.scope == "row" else min(policy.keep, len(rows)))


@given(worlds(), st.data())
def test_a_sequence_costs_what_the_bundle_costs_and_nothing_twice(world: World, data: st.DataObject) -> None:
    quoter, bought = world.quoter(), BoughtLevels()
    priced = data.draw(st.sampled_from(quoter.components))
    unit = data.draw(st.integers(0, len(priced.units) - 1))
    spent = 0
    for _ in range(4):
        place = data.draw(st.integers(0, len(priced.component.attributes) - 1))
        level = data.draw(st.integers(0, priced.component.heights[place]))
        attribute = priced.component.attributes[place]
        spent += quoter.price(attribute, unit, level, bought)
        bought.learn(priced, place, unit, level)
        assert quoter.price(attribute, unit, level, bought) == 0
    assert spent == priced.worth(unit, bought.of(priced, unit))
