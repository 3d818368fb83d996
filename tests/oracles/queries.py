"""Generalized queries (Def. 1) by nested loops."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import product

from oracles.cleaning import Row, tree_of
from oracles.tree import Tree, Value

OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Column = tuple[str, str]
"""(alias, attribute)"""


def evaluate(
    outputs: Sequence[tuple[Column, int]],
    conditions: Sequence[tuple[Column, str, Column | str]],
    relations: Mapping[str, Sequence[Row]],
    trees: Mapping[str, Tree],
) -> set[tuple[Value, ...]]:
    """The set of the query's answers, each generalized to its level."""
    found = set()
    for combination in product(*relations.values()):
        at = dict(zip(relations, combination, strict=True))
        if all(_holds(at, condition, trees) for condition in conditions):
            found.add(tuple(tree_of(a, trees).generalize(at[alias][a], level) for (alias, a), level in outputs))
    return found


def _holds(at: Mapping[str, Row], condition: tuple[Column, str, Column | str], trees: Mapping[str, Tree]) -> bool:
    (alias, attribute), sign, other = condition
    left = tree_of(attribute, trees).key(at[alias][attribute])
    if isinstance(other, tuple):
        right = tree_of(other[1], trees).key(at[other[0]][other[1]])
    else:
        right = tree_of(attribute, trees).key(other)
    if left is None or right is None:
        return False
    compare = OPERATORS[sign]
    if sign not in ("=", "<>"):
        try:
            return bool(compare(float(left), float(right)))
        except ValueError:
            pass
    return bool(compare(left, right))
