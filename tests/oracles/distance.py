"""Penalty and semantic distance (Defs 5 and 6, D2)."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import log2

from oracles.tree import Tree, Value


@cache
def penalty(tree: Tree, column: tuple[Value, ...], value: Value) -> float:
    """E(v) = P(X ∈ base(v)) · H(X | X ∈ base(v)). A null counts as the root; an unknown value has 0."""
    if value is None:
        return penalty(tree, column, tree.root)
    ground = [tree.key(v) for v in column if tree.is_ground(v)]
    inside = [v for v in ground if tree.precedes(v, value)]
    if not inside:
        return 0.0
    probability = len(inside) / len(ground)
    shares = [n / len(inside) for n in Counter(inside).values()]
    return probability * -sum(p * log2(p) for p in shares)


def distance(tree: Tree, column: tuple[Value, ...], v: Value, w: Value) -> float:
    """δ(v, w)."""
    v, w = (tree.root if value is None else value for value in (v, w))
    if tree.comparable(v, w):
        return abs(penalty(tree, column, v) - penalty(tree, column, w))
    meet = tree.lca(v, w)
    return distance(tree, column, v, meet) + distance(tree, column, meet, w)
