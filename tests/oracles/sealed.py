"""Sealed quotes, literally: all pairs of tuples listed, all answers enumerated, money as fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from oracles.tree import Tree

Tuple = tuple[str, ...]
Vector = tuple[int, ...]


def divergence(trees: Sequence[Tree], t: Tuple, u: Tuple) -> Vector:
    """Per attribute the number of levels below which two tuples differ."""
    return tuple(
        sum(tree.generalize(a, level) != tree.generalize(b, level) for level in range(tree.height + 1))
        for tree, a, b in zip(trees, t, u, strict=True)
    )


def separates(levels: Vector, delta: Vector) -> bool:
    return any(level < d for level, d in zip(levels, delta, strict=True))


def kernel(trees: Sequence[Tree], tuples: Sequence[Tuple], at: int, spread: str, t: Tuple) -> dict[Tuple, Fraction]:
    """μ(·|t): the neighbours of a tuple in one attribute, and the probability of each."""
    diverging: dict[int, list[Tuple]] = {}
    for u in tuples:
        d = divergence(trees, t, u)[at]
        if d:
            diverging.setdefault(d, []).append(u)
    if spread == "domain":
        others = [u for found in diverging.values() for u in found]
        return {u: Fraction(1, len(others)) for u in others}
    return {u: Fraction(1, len(diverging) * len(found)) for found in diverging.values() for u in found}


def atom_shares(
    trees: Sequence[Tree], tuples: Sequence[Tuple], prior: Sequence[int], at: int, spread: str
) -> dict[Vector, Fraction]:
    """Pr[δ | neighbour in A], by listing all pairs."""
    shares: dict[Vector, Fraction] = {}
    for t, weight in zip(tuples, prior, strict=True):
        for u, chance in kernel(trees, tuples, at, spread, t).items():
            delta = divergence(trees, t, u)
            shares[delta] = shares.get(delta, Fraction(0)) + Fraction(weight, sum(prior)) * chance
    return shares


def largest_remainder(total: int, shares: Mapping[Vector, Fraction]) -> dict[Vector, int]:
    """Whole numbers that sum to the total; ties go to the vector that comes first."""
    everything = sum(shares.values())
    exact = {delta: total * share / everything for delta, share in shares.items()}
    whole = {delta: int(part) for delta, part in exact.items()}
    for delta in sorted(exact, key=lambda d: (whole[d] - exact[d], d))[: total - sum(whole.values())]:
        whole[delta] += 1
    return whole


def price(
    trees: Sequence[Tree],
    tuples: Sequence[Tuple],
    prior: Sequence[int],
    weights: Sequence[int],
    spread: str,
    at: Vector,
) -> int:
    """P(λ): the weight of the atoms that answers at these levels separate."""
    total = 0
    for number, weight in enumerate(weights):
        shares = {d: s for d, s in atom_shares(trees, tuples, prior, number, spread).items() if s}
        if shares:
            total += sum(w for d, w in largest_remainder(weight, shares).items() if separates(at, d))
    return total


def answers(trees: Sequence[Tree], t: Tuple, levels: Vector) -> Tuple:
    return tuple(str(tree.generalize(v, level)) for tree, v, level in zip(trees, t, levels, strict=True))


def blocks(
    trees: Sequence[Tree],
    tuples: Sequence[Tuple],
    prior: Sequence[int],
    protected: Sequence[int | None],
    levels: Vector,
) -> list[dict[tuple[str | None, ...], int]]:
    """Per answer that tuples can give: the Y-values at L that it leaves possible, and how likely each is."""
    left: dict[Tuple, dict[tuple[str | None, ...], int]] = {}
    for t, weight in zip(tuples, prior, strict=True):
        if weight:
            y = tuple(tree.generalize(v, at) for tree, v, at in zip(trees, t, protected, strict=True) if at is not None)
            block = left.setdefault(answers(trees, t, levels), {})
            block[y] = block.get(y, 0) + weight
    return list(left.values())


def vectors(trees: Sequence[Tree]) -> list[Vector]:
    return list(product(*(range(tree.height + 1) for tree in trees)))
