"""k-, (X,Y)- and (X,Y,L)-anonymity (Defs 2–4), tuple by tuple; l-diversity and t-closeness, group by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, log

from oracles.cleaning import Row, tree_of
from oracles.criteria import distance
from oracles.tree import Tree, Value


def x_group(rows: Sequence[Row], t: Row, x: Sequence[str], trees: Mapping[str, Tree]) -> list[Row]:
    """σ_{X = t[X]}(R); a null equals nothing."""
    return [r for r in rows if all(_same(tree_of(a, trees), r[a], t[a]) for a in x)]


def _same(tree: Tree, v: Value, w: Value) -> bool:
    return v is not None and w is not None and tree.key(v) == tree.key(w)


def linked_tuples(rows: Sequence[Row], x: Sequence[str]) -> list[Row]:
    """The tuples that belong to some X-group: those without a null in X."""
    return [t for t in rows if all(t[a] is not None for a in x)]


def answers(group: Sequence[Row], levels: Mapping[str, int], trees: Mapping[str, Tree]) -> list[tuple[Value, ...]]:
    """Π_Y at levels L, with duplicates."""
    return [tuple(tree_of(a, trees).generalize(t[a], level) for a, level in levels.items()) for t in group]


def k_anonymity(rows: Sequence[Row], x: Sequence[str], trees: Mapping[str, Tree]) -> int | None:
    """The largest k for which every tuple's X-group has k tuples."""
    return min((len(x_group(rows, t, x, trees)) for t in linked_tuples(rows, x)), default=None)


def xyl_anonymity(
    rows: Sequence[Row], x: Sequence[str], levels: Mapping[str, int], trees: Mapping[str, Tree]
) -> int | None:
    """The largest k for which every tuple has |Gᵗ(R)| ≥ k, Gᵗ = ⟨Π_Y(σ_{X = t[X]}(R)), L⟩."""
    return min(
        (len(set(answers(x_group(rows, t, x, trees), levels, trees))) for t in linked_tuples(rows, x)), default=None
    )


def failing_groups(
    rows: Sequence[Row], x: Sequence[str], levels: Mapping[str, int], k: int, trees: Mapping[str, Tree]
) -> int:
    """How many X-groups are linked to fewer than k values (tuples, where Y is empty)."""
    failing = set()
    for t in linked_tuples(rows, x):
        group = x_group(rows, t, x, trees)
        if (len(set(answers(group, levels, trees))) if levels else len(group)) < k:
            failing.add(tuple(tree_of(a, trees).key(t[a]) for a in x))
    return len(failing)


def entropy_diversity(
    rows: Sequence[Row], x: Sequence[str], levels: Mapping[str, int], trees: Mapping[str, Tree]
) -> float:
    """The largest l with H ≥ log l in every X-group."""
    smallest = float("inf")
    for t in linked_tuples(rows, x):
        values = answers(x_group(rows, t, x, trees), levels, trees)
        shares = [values.count(v) / len(values) for v in set(values)]
        smallest = min(smallest, -sum(p * log(p) for p in shares))
    return exp(smallest)


def closeness(rows: Sequence[Row], x: Sequence[str], y: str, level: int, trees: Mapping[str, Tree]) -> Fraction | None:
    """The smallest t: the largest earth mover's distance between an X-group's values and all tuples' values."""
    overall = Counter(answers(rows, {y: level}, trees))
    groups = [Counter(answers(x_group(rows, t, x, trees), {y: level}, trees)) for t in linked_tuples(rows, x)]
    return max((distance(group, overall) for group in groups), default=None)
