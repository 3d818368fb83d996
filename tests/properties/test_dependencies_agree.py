"""What the linter and the meter say of dependencies is what the definitions say, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanes import many_examples
from oracles import dependencies as literal
from oracles.bridge import to_hierarchies, to_relation
from oracles.strategies import tree_rows
from oracles.tree import Tree

from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.grouping import Keys
from pacas.provider.lint.broken_groups import broken_groups
from pacas.provider.lint.dependencies import TellingDependency
from pacas.provider.lint.determination import Determination, determination
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.terms import Terms

ENGINE = DuckEngine(threads=1)
FD = FunctionalDependency(("A",), "B")
MATCH = {a: MatchingDependency.parse("ID = ID") for a in ("A", "B")}


@many_examples(2000)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=14))
def test_who_is_guessed_right_is_who_the_others_give_away(rows: list[tuple[int, int]]) -> None:
    left, right = (np.array(side) for side in zip(*rows, strict=True))
    found = determination(Keys(left, 5, False), Keys(right, 4, False))
    assert tuple(found) == tuple(literal.guessed(left.tolist(), [str(value) for value in right]))


class Market(NamedTuple):
    """Rows whose A determines their B, what can be, and from which level on each A is known."""

    rows: list[dict[str, str]]
    trees: dict[str, Tree]
    possible: list[dict[str, str]]
    levels: list[int]
    right_level: int
    k: int


@st.composite
def markets(draw: st.DrawFn) -> Market:
    trees = {a: Tree(draw(tree_rows(3))) for a in "AB"}
    ground = {a: to_hierarchies({a: tree})[a].ground_labels for a, tree in trees.items()}
    follows = {a: draw(st.sampled_from(ground["B"])) for a in ground["A"]}
    people = draw(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(ground["A"])), min_size=1, max_size=12))
    rows = [{"ID": str(i), "X": x, "A": a, "B": follows[a]} for i, (x, a) in enumerate(people)]
    return Market(
        rows,
        trees,
        [{"A": a, "B": b} for a, b in follows.items()],
        [draw(st.integers(0, trees["A"].height)) for _ in rows],
        draw(st.integers(0, trees["B"].height - 1)),
        draw(st.integers(1, 4)),
    )


@many_examples(2000)
@given(markets(), st.booleans())
def test_x_groups_are_short_whose_rows_can_have_too_few_values(market: Market, is_declared: bool) -> None:
    """By the dictionary, where the dependency is declared; else by what the relation shows of it."""
    policy = Policy(("X",), ("B",), {"B": market.right_level}, market.k)
    declared = [DeclaredDependency(FD, tuple(market.possible))] if is_declared else []
    hierarchies = to_hierarchies(market.trees)
    terms = Terms(hierarchies, MATCH, (policy,), sealing=Sealing(declared))
    own = OwnRows.read(ENGINE, to_relation(market.rows), terms)
    found = TellingDependency(FD, 0, market.right_level, Determination(0, 0, 0, 0), is_declared)
    known = {"A": np.array(market.levels, dtype=np.int64)}
    possible = market.possible if is_declared else [{a: row[a] for a in "AB"} for row in market.rows]
    short = literal.short_groups(
        market.rows, "X", [{"A": at} for at in market.levels], possible, "B", market.right_level, market.k, market.trees
    )
    assert broken_groups(found, own, known, policy, terms) == short
