"""What an answer is worth before anybody looks at the relation: the paper's price, expected over what is public.

Alg. 1 prices an answer by the neighbours that it rules out. Here the row is drawn from a public prior and its neighbour
from a public kernel; all that counts of the pair is its *divergence vector* δ, per attribute the number of levels below
which the two differ. Answers at levels λ tell the pair apart iff λ_A < δ_A for some attribute A. So a price is a sum
over the few vectors that there are, each with a whole number of nanocredits: a weighted coverage, and by that never
negative, monotone, submodular, and the same for a sequence of purchases as for the bundle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pacas.core.sealed.component import Component, Ints, LevelVector
from pacas.errors import InputError

Shares = NDArray[np.object_]
"""A `Fraction` per divergence vector."""


class NeighbourSpread(Enum):
    """Which neighbours a row has: an even part to each level at which there are some (D6), or any other tuple alike."""

    EVEN = "even"
    DOMAIN = "domain"


def price_tables(
    component: Component, weightings: Sequence[Mapping[str, int]], spread: NeighbourSpread = NeighbourSpread.EVEN
) -> list[Ints]:
    """P(λ): what answers at each level vector are worth, in nanocredits, if each attribute's neighbours weigh so much.

    Of an attribute's weight every divergence vector gets its share, rounded by largest remainder. An attribute that can
    hold one value only has no neighbours, and its weight is nobody's. One table for each weighting of the attributes:
    that of most rows, say, and that of the row which has the rest.

    >>> from pacas.core.hierarchy import Hierarchy
    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> price_tables(Component.of_attribute("MED", med), [{"MED": 900}])[0].tolist()  # two of three have a sibling
    [900, 600, 0]
    """
    sizes = {vector: _sizes(component, vector) for vector in component.vectors()}
    shares = {a: divergence_shares(component, a, spread, sizes) for a in dict.fromkeys(chain.from_iterable(weightings))}
    return [
        _coverage(component.shape, [(shares[a], weight) for a, weight in weights.items()]) for weights in weightings
    ]


def _coverage(shape: tuple[int, ...], weights: Sequence[tuple[Shares, int]]) -> Ints:
    """What each level vector covers of the atoms, of which every attribute has some."""
    atoms = np.zeros(shape, dtype=np.int64)
    for shares, weight in weights:
        if any(shares.flat):
            atoms += np.reshape(apportion(weight, shares.ravel().tolist()), shape)
    untold = atoms
    for axis in range(atoms.ndim):  # the atoms that answers leave together: no divergence above the level
        untold = untold.cumsum(axis)
    prices: Ints = atoms.sum() - untold
    return prices


def divergence_shares(
    component: Component, attribute: str, spread: NeighbourSpread, sizes: Mapping[LevelVector, Ints]
) -> Shares:
    """The probability of each divergence vector, of a row's tuple and of its neighbour in one attribute.

    No pair is listed. For a tuple i, the neighbours that diverge at level d in the attribute and at no level above λ in
    the others are those in i's block at (d, λ) that are not in its block at (d − 1, λ). `sizes` are those of blocks.
    """
    at = component.attributes.index(attribute)
    within = np.full(component.shape, Fraction(0), dtype=object)
    sharing = _sharing(component, at, spread)
    for vector in component.vectors():
        if vector[at]:
            finer = (*vector[:at], vector[at] - 1, *vector[at + 1 :])
            neighbours = sizes[vector] - sizes[finer]
            within[vector] = _expected(component.prior * neighbours, sharing[vector[at]]) / int(component.prior.sum())
    for axis in range(within.ndim):
        if axis != at:
            within = _differences(within, axis)
    return within


def apportion(total: int, shares: Sequence[Fraction]) -> list[int]:
    """Whole numbers in proportion to shares, summing to the total: by largest remainder, the first of equal ones first.

    >>> apportion(10, [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), Fraction(0)])
    [4, 3, 3, 0]
    """
    everything = sum(shares)
    if total < 0 or everything <= 0:
        raise InputError("nothing to apportion: a total of 0 or more, and a share above 0, are needed")
    exact = [share * total / everything for share in shares]
    whole = [int(part) for part in exact]
    for number in sorted(range(len(exact)), key=lambda n: (whole[n] - exact[n], n))[: total - sum(whole)]:
        whole[number] += 1
    return whole


# ---- neighbours, counted --------------------------------------------------------------------------------------------


def _sizes(component: Component, vector: LevelVector) -> Ints:
    """Per tuple how many share its block."""
    block = component.blocks(vector)
    return np.bincount(block)[block]


def _sharing(component: Component, at: int, spread: NeighbourSpread) -> Ints:
    """`sharing[d, i]`: a neighbour of tuple i that diverges from it at d in one attribute is one of so many, alike."""
    sizes = []
    for nodes in component.paths[at]:
        _, node, count = np.unique(nodes, return_inverse=True, return_counts=True)
        sizes.append(count[node])
    diverging = np.diff(np.stack([sizes[0], *sizes]), axis=0)  # per level and tuple, at 0 nobody
    if spread is NeighbourSpread.DOMAIN:
        diverging_at_all: Ints = np.broadcast_to(diverging.sum(axis=0), diverging.shape)
        return diverging_at_all
    return np.asarray(diverging * (diverging > 0).sum(axis=0))


def _expected(counts: Ints, sharing: Ints) -> Fraction:
    """Σ counts / sharing over the tuples that have some, exactly."""
    some = counts > 0
    kinds, kind = np.unique(sharing[some], return_inverse=True)
    sums = np.zeros(len(kinds), dtype=np.int64)
    np.add.at(sums, kind, counts[some])
    return sum((Fraction(*pair) for pair in zip(sums.tolist(), kinds.tolist(), strict=True)), Fraction(0))


def _differences(table: Shares, axis: int) -> Shares:
    """From sums up to each level to the levels themselves."""
    first = np.take(table, [0], axis=axis)
    return np.concatenate([first, np.diff(table, axis=axis)], axis=axis)
