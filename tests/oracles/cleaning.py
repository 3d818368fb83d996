"""Violations, equivalence classes and their errors (§3.2, Alg. 4, §6.3), pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from oracles.tree import Tree, Value

Row = Mapping[str, Value]
Pair = frozenset[int]
Cell = tuple[int, str]


class Dependency(NamedTuple):
    """X → B."""

    lhs: tuple[str, ...]
    rhs: str


FLAT = Tree.flat()


def tree_of(attribute: str, trees: Mapping[str, Tree]) -> Tree:
    return trees.get(attribute, FLAT)


def equal_ground(t1: Row, t2: Row, x: Sequence[str], trees: Mapping[str, Tree]) -> bool:
    """Do both tuples have the same values in X, all of them ground?"""
    return all(
        tree_of(a, trees).is_ground(t1[a]) and tree_of(a, trees).key(t1[a]) == tree_of(a, trees).key(t2[a]) for a in x
    )


def violations(rows: Sequence[Row], fd: Dependency, trees: Mapping[str, Tree]) -> set[Pair]:
    """The unordered pairs of tuples that violate the dependency."""
    tree = tree_of(fd.rhs, trees)
    return {
        frozenset((i, j))
        for i, j in combinations(range(len(rows)), 2)
        if equal_ground(rows[i], rows[j], fd.lhs, trees) and not tree.comparable(rows[i][fd.rhs], rows[j][fd.rhs])
    }


def violating_groups(rows: Sequence[Row], fd: Dependency, trees: Mapping[str, Tree]) -> int:
    """How many X-groups hold a violating pair."""
    groups = {tuple(tree_of(a, trees).key(rows[min(pair)][a]) for a in fd.lhs) for pair in violations(rows, fd, trees)}
    return len(groups)


def generate_eqs(rows: Sequence[Row], fds: Sequence[Dependency], trees: Mapping[str, Tree]) -> list[set[Cell]]:
    """Every cell a class of its own; then merge the classes of t1[B] and t2[B] wherever X → B has them agree on X."""
    classes: list[set[Cell]] = [{(i, a)} for i, row in enumerate(rows) for a in row]
    for i, j in combinations(range(len(rows)), 2):
        for fd in fds:
            if equal_ground(rows[i], rows[j], fd.lhs, trees):
                one = next(c for c in classes if (i, fd.rhs) in c)
                other = next(c for c in classes if (j, fd.rhs) in c)
                if one is not other:
                    classes.remove(other)
                    one |= other
    return classes


def resolved(rows: Sequence[Row], cells: set[Cell], trees: Mapping[str, Tree]) -> bool:
    """Are the values of the class pairwise comparable?"""
    return all(tree_of(a, trees).comparable(rows[i][a], rows[j][b]) for (i, a), (j, b) in combinations(cells, 2))


def errors(violating: Mapping[Dependency, set[Pair]], cells: set[Cell]) -> set[tuple[Dependency, Pair]]:
    """errors(R, Σ, eq): the violating pairs, per dependency, in which one of the cells takes part on either side."""
    found = set()
    for fd, pairs in violating.items():
        for pair in pairs:
            if any((t, a) in cells for t in pair for a in (*fd.lhs, fd.rhs)):
                found.add((fd, pair))
    return found


def unresolved(
    rows: Sequence[Row], fds: Sequence[Dependency], trees: Mapping[str, Tree]
) -> list[tuple[str, list[int], int]]:
    """(attribute, rows, errors) of the classes to repair: most errors first, then first row, then column order (D9)."""
    found = []
    violating = {fd: violations(rows, fd, trees) for fd in fds}
    for cells in generate_eqs(rows, fds, trees):
        if not resolved(rows, cells, trees):
            ((attribute,), members) = {a for _, a in cells}, sorted(i for i, _ in cells)
            found.append((attribute, members, len(errors(violating, cells))))
    columns = list(rows[0])
    return sorted(found, key=lambda c: (-c[2], c[1][0], columns.index(c[0])))
