"""What stays possible for a row, whatever the answers are: how fine an answer may be before it tells too much.

A policy protects Y at levels L. Answers at a level vector λ leave a row some block of a component's tuples; the policy
holds for the row iff its criterion holds in *every* block that an answer could leave, on the prior restricted to it. It
does not matter which block it is, so that a refusal says nothing about the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from pacas.core.component import Component, Ints, LevelVector
from pacas.core.histogram import GroupHistogram, Values


def blocks_left(component: Component, levels: Sequence[int], protected: Mapping[str, int]) -> GroupHistogram:
    """Per block that answers at some levels can leave: the Y-values at L that are possible in it, and their prior.

    Tuples whose prior is 0 are impossible, and in no block.
    """
    possible = np.flatnonzero(component.prior)
    y = component.blocks([protected.get(a, h) for a, h in zip(component.attributes, component.heights, strict=True)])
    y_values, y = np.unique(y[possible], return_inverse=True)
    _, block = np.unique(component.blocks(levels)[possible], return_inverse=True)
    blocks = int(block.max()) + 1
    pair, of = np.unique(block * len(y_values) + y, return_inverse=True)
    weight = component.prior[possible]
    n, overall = np.zeros(len(pair), dtype=np.int64), np.zeros(len(y_values), dtype=np.int64)
    np.add.at(n, of, weight)
    np.add.at(overall, y, weight)
    values: list[Values] = [(str(number),) for number in range(len(y_values))]
    return GroupHistogram(pair // len(y_values), pair % len(y_values), n, blocks, values, overall)


def least_left(component: Component, protected: Mapping[str, int]) -> Ints:
    """N[λ]: the fewest Y-values at L that any answers at each level vector leave possible.

    >>> from pacas.core.hierarchy import Hierarchy
    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> least_left(Component.of_attribute("MED", med), {"MED": 0}).tolist()  # "other" leaves one
    [1, 1, 3]
    """
    least = np.ones(component.shape, dtype=np.int64)
    for vector in component.vectors():
        left = blocks_left(component, vector, protected)
        least[vector] = np.bincount(left.group, minlength=left.groups).min()
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
    """How many Y-values at L stay possible at least: components are independent, so that their numbers multiply."""
    return prod(int(table[vector]) for table, vector in zip(least, vectors, strict=True))
