"""Greedy-Repair, literally: every class a set of cells, every cost recomputed from them before each merge."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from oracles.cleaning import Cell, Dependency, Row, equal_ground, violations
from oracles.tree import Value

MILLIONTHS = 1_000_000


@cache
def edits(one: str, other: str) -> int:
    """Damerau-Levenshtein: insertions, deletions, substitutions, and swaps of letters that may be edited between."""
    last: dict[str, int] = {}
    far = len(one) + len(other)
    table = {(-1, -1): far}
    for i in range(len(one) + 1):
        table[i, -1], table[i, 0] = far, i
    for j in range(len(other) + 1):
        table[-1, j], table[0, j] = far, j
    for i in range(1, len(one) + 1):
        matched = 0
        for j in range(1, len(other) + 1):
            k, m = last.get(other[j - 1], 0), matched
            same = one[i - 1] == other[j - 1]
            if same:
                matched = j
            table[i, j] = min(
                table[i - 1, j - 1] + (not same),
                table[i, j - 1] + 1,
                table[i - 1, j] + 1,
                table[k - 1, m - 1] + (i - k - 1) + 1 + (j - m - 1),
            )
        last[one[i - 1]] = i
    return table[len(one), len(other)]


def distance(v: Value, w: Value) -> int:
    """In whole millionths; a null is as far from any value as can be."""
    if v is None or w is None:
        return 0 if v is w else MILLIONTHS
    return round(Fraction(edits(v, w), max(len(v), len(w))) * MILLIONTHS)


def greedy_repair(table: Sequence[Row], fds: Sequence[Dependency], weights: Sequence[int]) -> list[dict[str, Value]]:
    classes: list[set[Cell]] = [{(i, fd)} for fd in dict.fromkeys(fd.rhs for fd in fds) for i in range(len(table))]

    def targeted(eq: set[Cell]) -> tuple[Value, int]:
        """The value that costs least to write over all cells, and what it costs."""
        if len(eq) == 1:
            ((row, attribute),) = eq
            return table[row][attribute], 0
        best: tuple[Value, int] | None = None
        for row, attribute in sorted(eq):
            v = table[row][attribute]
            cost = sum(weights[i] * distance(table[i][a], v) for i, a in eq)
            if v is not None and v != "*" and (best is None or cost < best[1]):
                best = v, cost
        assert best is not None
        return best

    while True:
        rows = [dict(row) for row in table]
        for eq in classes:
            target, _ = targeted(eq)
            for i, attribute in eq:
                rows[i][attribute] = target
        plans = []
        for number, fd in enumerate(fds):
            for first in {min(pair) for pair in violations(rows, fd, {})}:
                group = [j for j in range(len(rows)) if equal_ground(rows[first], rows[j], fd.lhs, {})]
                parts = [eq for eq in classes if any((j, fd.rhs) in eq for j in group)]
                cost = targeted(set.union(*parts))[1] - sum(targeted(eq)[1] for eq in parts)
                plans.append(((cost, number, min(group)), parts))
        if not plans:
            return rows
        _, parts = min(plans, key=lambda plan: plan[0])
        classes = [eq for eq in classes if eq not in parts] + [set.union(*parts)]


def consistent(rows: Sequence[Row], fds: Sequence[Dependency]) -> bool:
    return not any(violations(rows, fd, {}) for fd in fds)


def majority(table: Sequence[Row], cells: Sequence[int], attribute: str) -> Value:
    """The most frequent value that is not null, of several the one that stands first."""
    here = [v for i in cells if (v := table[i][attribute]) is not None]
    return max(here, key=lambda v: (here.count(v), -here.index(v)))
