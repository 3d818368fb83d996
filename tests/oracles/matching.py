"""Record matching (§5.1): a client's value against a provider's, one pair at a time.

What each way of being alike means, exactly:

- `=`: the same value; the same number, where the provider column's hierarchy is numeric.
- `within N`: both are decimal numbers and |client − provider| ≤ N, exactly. What is no number is within nothing.
- `edit θ`: 1 − d / (length of the longer text) ≥ θ, d being Levenshtein's distance.
- `jaro_winkler θ`: Jaro's similarity; where it is over 0.7, it gains a tenth of what lacks to 1 for each of the first
  (up to four) characters that agree.
- `qgram θ`: Dice over multisets of 2-grams, 2·|P ∩ Q| / (|P| + |Q|), each text padded to `#text$`.
- `compatible`: the provider's value is the client's or lies below it.

A null (an empty text) is like nothing, another null included. Texts are compared as they are written: case and white
space count, and a measure of similarity knows nothing of numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from oracles.cleaning import Row, tree_of
from oracles.tree import Tree, Value


class Clause(NamedTuple):
    """One conjunct of a matching dependency: the client's column is like the provider's."""

    client: str
    provider: str
    how: str = "="
    threshold: float = 0.0


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

Match = tuple[Clause, ...]
"""A matching dependency: all clauses hold."""


def matching_rows(
    match: Match, values: Mapping[str, Value], rows: Sequence[Row], trees: Mapping[str, Tree]
) -> list[Row]:
    """σ_match(R) for a client's tuple."""
    return [
        row
        for row in rows
        if all(alike(c, values[c.client], row[c.provider], tree_of(c.provider, trees)) for c in match)
    ]


def alike(clause: Clause, client: Value, provider: Value, tree: Tree) -> bool:
    """Does the clause hold for these two values? The tree is the provider column's."""
    if not client or not provider:
        return False
    match clause.how:
        case "=":
            return tree.key(client) == tree.key(provider)
        case "within":
            return within(client, provider, clause.threshold)
        case "compatible":
            return tree.precedes(provider, client)
        case _:
            return SIMILARITIES[clause.how](client, provider) >= clause.threshold


def within(client: str, provider: str, tolerance: float) -> bool:
    if not NUMBER.fullmatch(client) or not NUMBER.fullmatch(provider):
        return False
    return abs(Fraction(client) - Fraction(provider)) <= Fraction(repr(tolerance))


def edit_similarity(one: str, other: str) -> float:
    return 1.0 - levenshtein(one, other) / max(len(one), len(other))


@cache
def levenshtein(one: str, other: str) -> int:
    """The fewest insertions, deletions and replacements of a character that turn one text into the other."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        levenshtein(one[1:], other) + 1,
        levenshtein(one, other[1:]) + 1,
        levenshtein(one[1:], other[1:]) + (one[0] != other[0]),
    )


def jaro(one: str, other: str) -> float:
    """Characters match that are equal and near; half of those that stand in another order count as transposed."""
    near = max(max(len(one), len(other)) // 2 - 1, 0)
    taken: dict[int, int] = {}  # position in `other` -> position in `one`
    for i, character in enumerate(one):
        for j in range(max(i - near, 0), min(i + near + 1, len(other))):
            if other[j] == character and j not in taken:
                taken[j] = i
                break
    if not taken:
        return 0.0
    matched = len(taken)
    in_one, in_other = [one[i] for i in sorted(taken.values())], [other[j] for j in sorted(taken)]
    transposed = sum(a != b for a, b in zip(in_one, in_other, strict=True)) // 2
    return (matched / len(one) + matched / len(other) + (matched - transposed) / matched) / 3


def jaro_winkler(one: str, other: str) -> float:
    similarity, prefix = jaro(one, other), 0
    while prefix < min(4, len(one), len(other)) and one[prefix] == other[prefix]:
        prefix += 1
    return similarity + prefix * 0.1 * (1 - similarity) if similarity > 0.7 else similarity


def qgram_similarity(one: str, other: str) -> float:
    grams = [Counter(padded[i : i + 2] for i in range(len(padded) - 1)) for padded in (f"#{one}$", f"#{other}$")]
    return 2 * (grams[0] & grams[1]).total() / (grams[0].total() + grams[1].total())


SIMILARITIES: dict[str, Callable[[str, str], float]] = {
    "edit": edit_similarity,
    "jaro_winkler": jaro_winkler,
    "qgram": qgram_similarity,
}
