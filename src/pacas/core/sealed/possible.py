"""What stays possible for a row, whatever the answers are: how fine an answer may be before it tells too much.

A policy protects Y at levels L. Answers at a level vector λ leave a row some block of a component's tuples; the policy
holds for the row iff its criterion holds in *every* block that an answer could leave, on the prior restricted to it. It
does not matter which block it is, so that a refusal says nothing about the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from pacas.core.criteria.criterion import Criterion
from pacas.core.histogram import GroupHistogram, sum_by
from pacas.core.sealed.component import Component, Ints, LevelVector


def blocks_left(component: Component, protected: Mapping[str, int]) -> Iterator[tuple[LevelVector, GroupHistogram]]:
    """By level vector, per block that answers can leave: the Y-values at L that are possible in it, and their prior.

    Tuples whose prior is 0 are impossible, and in no block. What is absent has no Y-value: the block that answers leave
    it is empty.
    """
    possible = np.flatnonzero(component.prior)
    there = possible[possible < len(component) - 1] if component.last_is_absent else possible
    y = component.blocks([protected.get(a, h) for a, h in zip(component.attributes, component.heights, strict=True)])
    _, first, y = np.unique(y[there], return_index=True, return_inverse=True)
    weight, values = component.prior[there], component.values(there[first], protected)
    overall = sum_by(y, weight, len(first))
    for vector in component.vectors():
        found, block = np.unique(component.blocks(vector)[possible], return_inverse=True)
        pair, of = np.unique(block[: len(there)] * len(first) + y, return_inverse=True)
        n = sum_by(of, weight, len(pair))
        yield vector, GroupHistogram(pair // len(first), pair % len(first), n, len(found), values, overall)


def least_left(component: Component, protected: Mapping[str, int], criterion: Criterion) -> Ints:
    """N[λ]: what any answers at each level vector leave, in the worst block, of what a criterion asks for.

    >>> from pacas.core.criteria.distinct import DistinctValues
    >>> from pacas.core.hierarchy import Hierarchy
    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> one = Component.of_attribute("MED", med)
    >>> least_left(one, {"MED": 0}, DistinctValues(2)).tolist()  # "other" leaves one value
    [1, 1, 3]
    """
    least = np.ones(component.shape, dtype=np.int64)
    for vector, left in blocks_left(component, protected):
        none_is_empty = 1 + np.count_nonzero(np.diff(left.group)) == left.groups
        least[vector] = criterion.left(left) if none_is_empty else 0
    return least


def dearest_safe(
    safe: Callable[[tuple[LevelVector, ...]], bool], prices: Sequence[Ints]
) -> tuple[LevelVector, ...] | None:
    """φ: of the level vectors of some components that are safe together, the ones that cost most; None if none are.

    Of equally dear ones the first, by levels, so that every process finds the same.
    """
    best, found = -1, None
    for vectors in product(*(list(np.ndindex(table.shape)) for table in prices)):
        price = sum(int(table[vector]) for table, vector in zip(prices, vectors, strict=True))
        if price > best and safe(vectors):
            best, found = price, vectors
    return found


def values_left(least: Sequence[Ints], vectors: Sequence[LevelVector]) -> int:
    """What stays possible of Y at L at least: components are independent, so that numbers of values multiply."""
    return prod(int(table[vector]) for table, vector in zip(least, vectors, strict=True))
