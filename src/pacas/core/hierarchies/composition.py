"""What two hierarchies of one attribute tell together: two providers that each hide k values may leave fewer.

A provider that is safe alone answers with a node that has at least k ground values below it. Where another provider's
nodes cross it, whoever buys from both is left with what the two have in common. In one and the same tree two nodes
above a value never cross: the finer of them is all that both tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.errors import HierarchyError


@dataclass(frozen=True, slots=True)
class Composition:
    """Of the ground values that both hierarchies have, how many the finest answers of both leave too few."""

    k: int
    values: int
    only_first: int
    only_second: int
    fewer: int
    """Those that are left with fewer than k values, themselves included."""
    pinned: int
    """Those that are left with no other."""


def compose(first: Hierarchy, second: Hierarchy, k: int) -> Composition:
    """What is left of each value when both answer as finely as leaves k values below the answer, or with the root.

    >>> rows = [("1", "1-2"), ("2", "1-2"), ("3", "3-4"), ("4", "3-4")]
    >>> first = Hierarchy.from_rows([(*row, "*") for row in rows])
    >>> second = Hierarchy.from_rows([("1", "1-3", "*"), ("2", "2-4", "*"), ("3", "1-3", "*"), ("4", "2-4", "*")])
    >>> compose(first, second, 2)
    Composition(k=2, values=4, only_first=0, only_second=0, fewer=4, pinned=4)
    >>> compose(first, first, 2).fewer
    0
    """
    left = np.array(list(left_in_common(first, second, k).values()))
    only = (len(first.ground_labels) - len(left), len(second.ground_labels) - len(left))
    return Composition(k, len(left), *only, int((left < k).sum()), int((left == 1).sum()))


def left_in_common(first: Hierarchy, second: Hierarchy, k: int) -> dict[str, int]:
    """Of each ground value that both have, how many values the two finest answers have in common."""
    known = set(second.ground_labels) if first.numeric == second.numeric else set()
    common = [value for value in first.ground_labels if value in known]
    if not common:
        raise HierarchyError("the two hierarchies have no ground value in common; give two of one attribute")
    common.sort(key=dict(zip(common, first.enter[first.encode(common)].tolist(), strict=True)).__getitem__)
    codes, others = first.encode(common), second.encode(common)
    place, other_place = first.enter[codes], second.enter[others]
    left = np.zeros(len(codes), dtype=np.int64)
    pairs = np.stack([_finest(first, codes, k), _finest(second, others, k)])
    for (node, other), mine in _by_pair(pairs):
        low, high = np.searchsorted(place, [first.enter[node], first.leave[node]])
        among = other_place[low:high]
        left[mine] = ((among >= second.enter[other]) & (among < second.leave[other])).sum()
    return dict(zip(common, left.tolist(), strict=True))


def _finest(hierarchy: Hierarchy, codes: Codes, k: int) -> Codes:
    """Per ground value its lowest ancestor with at least k ground values below it; the root where there is none."""
    places = np.sort(hierarchy.enter[hierarchy.is_ground])
    below = np.searchsorted(places, hierarchy.leave) - np.searchsorted(places, hierarchy.enter)
    node: Codes = hierarchy.ancestors[0, codes]
    for level in range(1, hierarchy.height + 1):
        node = np.where(below[node] < k, hierarchy.ancestors[level, codes], node)
    return node


def _by_pair(pairs: Codes) -> list[tuple[Codes, Codes]]:
    """The pairs of nodes, each once, and which values have it."""
    found, which = np.unique(pairs, axis=1, return_inverse=True)
    order = np.argsort(which, kind="stable")
    cuts = np.searchsorted(which[order], np.arange(1, found.shape[1]))
    return list(zip(found.T, np.split(order, cuts), strict=True))
