"""What dependencies tell, row by row: whom the others give away, and which X-groups are left with too few values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oracles.tree import Tree

Row = Mapping[str, str]


class Guessed(NamedTuple):
    """How many share their left side, with how many left sides; who is guessed right, and who has the usual value."""

    rows: int
    groups: int
    right: int
    usual: int


def guessed(left: Sequence[object], right: Sequence[str]) -> Guessed:
    """A value is guessed where one is more frequent than any other among the other rows with the same left side."""
    sharing = [i for i, key in enumerate(left) if list(left).count(key) > 1]
    hits = 0
    for i in sharing:
        others = Counter(right[j] for j in sharing if left[j] == left[i] and j != i).most_common()
        is_clear = len(others) == 1 or others[0][1] > others[1][1]
        hits += is_clear and others[0][0] == right[i]
    usual = max(Counter(right[i] for i in sharing).values(), default=0)
    return Guessed(len(sharing), len({left[i] for i in sharing}), hits, usual)


def short_groups(
    rows: Sequence[Row],
    x: str,
    known: Sequence[Mapping[str, int]],
    possible: Sequence[Row],
    right: str,
    level: int,
    k: int,
    trees: Mapping[str, Tree],
) -> int:
    """X-groups whose rows can have fewer than k values: what fits the answers that are known of each."""
    shown: dict[str, set[str | None]] = {}
    for row, levels in zip(rows, known, strict=True):
        for line in possible:
            if all(trees[a].generalize(line[a], at) == trees[a].generalize(row[a], at) for a, at in levels.items()):
                shown.setdefault(row[x], set()).add(trees[right].generalize(line[right], level))
    return sum(len(values) < k for values in shown.values())
