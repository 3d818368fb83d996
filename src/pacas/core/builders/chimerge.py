"""Intervals that tell the classes of another attribute apart, found bottom-up.

Kerber, ChiMerge: Discretization of numeric attributes, AAAI 1992: start with one interval per number and merge, again
and again, the two neighbours whose classes differ least by the χ² test. As in Kerber's own implementation, a
denominator is at least 0.5, so that a small expected count does not make two intervals look different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf

from pacas.core.builders.numeric import NumericColumn, class_codes, read_numbers
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError

SIGNIFICANCE = (0.95,)
MAX_INTERVALS = (16, 8, 4)

Profile = dict[int, int]
"""How many rows an interval has of each class."""


def chimerge(
    values: Sequence[str],
    targets: Sequence[str],
    counts: Sequence[int],
    *,
    significance: Sequence[float] | None = None,
    max_intervals: Sequence[int] | None = None,
) -> Hierarchy:
    """One level per stopping rule of a single run of merges, so the levels nest; then the root.

    A level has merged all neighbours that do not differ at its `significance`, and has at most its `max_intervals`.
    Given one of the two, it alone decides; given both, each level has one of each, and a single number stands for
    all levels; given none, they are 0.95 and 16, 8, 4.

    >>> list(chimerge(["1", "2", "3", "4"], ["no", "no", "yes", "yes"], [9, 9, 9, 9], significance=[0.9]).rows())[0]
    ('1', '[1,2]', '*')
    """
    column = read_numbers(values)
    merging = _Merging(_profiles(column, targets, counts))
    levels = []
    for rule in _rules(significance, max_intervals, classes=len(set(targets))):
        merging.run(rule)
        levels.append(column.split_after(merging.last_ranks()[:-1]))
    return column.hierarchy(levels)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Merge on while two neighbours differ by no more than `threshold`, or more than `most` intervals are left."""

    threshold: float
    most: float


def _rules(significance: Sequence[float] | None, max_intervals: Sequence[int] | None, *, classes: int) -> list[_Rule]:
    _check(significance, max_intervals)
    if significance is None and max_intervals is None:
        significance, max_intervals = SIGNIFICANCE, MAX_INTERVALS
    thresholds = [_chi_square_quantile(level, classes - 1) for level in significance or ()] or [-inf]
    most: list[float] = list(max_intervals) if max_intervals else [inf]
    width = max(len(thresholds), len(most))
    if len(thresholds) == 1:
        thresholds *= width
    if len(most) == 1:
        most *= width
    if len(thresholds) != len(most):
        raise HierarchyError("significance and max_intervals must have one number per level, or one for all levels")
    return [_Rule(threshold, many) for threshold, many in zip(thresholds, most, strict=True)]


def _check(significance: Sequence[float] | None, max_intervals: Sequence[int] | None) -> None:
    if significance is not None and not (significance and all(0 < level < 1 for level in significance)):
        raise HierarchyError("significance must name levels between 0 and 1, e.g. significance = [0.9, 0.99]")
    if any(above <= below for below, above in pairwise(significance or ())):
        raise HierarchyError("significance must increase: a level above keeps fewer intervals")
    if max_intervals is not None and not (max_intervals and all(most >= 1 for most in max_intervals)):
        raise HierarchyError("max_intervals must name numbers of intervals, 1 or more, e.g. max_intervals = [16, 4]")
    if any(above >= below for below, above in pairwise(max_intervals or ())):
        raise HierarchyError("max_intervals must decrease: a level above keeps fewer intervals")


def _chi_square_quantile(probability: float, degrees: int) -> float:
    from scipy.special import gammaincinv  # here: slow to import, rarely needed

    return 2 * float(gammaincinv(max(degrees, 1) / 2, probability))


def _profiles(column: NumericColumn, targets: Sequence[str], counts: Sequence[int]) -> list[Profile]:
    profiles: list[Profile] = [{} for _ in column.labels]
    for rank, target, count in zip(column.rank.tolist(), class_codes(targets).tolist(), counts, strict=True):
        profiles[rank][target] = profiles[rank].get(target, 0) + int(count)
    return profiles


def chi_square(a: Profile, b: Profile) -> float:
    """χ² of the two-row table of a and b.

    With two rows, both cells of a class lie equally far from what is expected, by `(x·B - y·A) / (A + B)` for x of
    A rows and y of B. That is exact in integers, so equal shares give exactly 0 and ties are real ties.
    """
    size_a, size_b = sum(a.values()), sum(b.values())
    size = size_a + size_b
    total = 0.0
    for target, x in a.items():
        y = b.get(target, 0)
        apart = x * size_b - y * size_a
        if apart:
            total += apart * apart * _weight(size_a, size_b, (x + y) / size)
    for target, y in b.items():
        if target not in a:
            apart = y * size_a
            total += apart * apart * _weight(size_a, size_b, y / size)
    return total / (size * size)


def _weight(size_a: int, size_b: int, share: float) -> float:
    """The sum of the reciprocals of a class's two expected counts, each taken as at least 0.5."""
    a, b = size_a * share, size_b * share
    return 1 / (a if a > 0.5 else 0.5) + 1 / (b if b > 0.5 else 0.5)


class _Merging:
    """Intervals, each known by the rank of its first number, and a heap of the neighbours by χ², then by rank.

    A pair whose intervals have changed stays in the heap with an old stamp and is skipped when it comes up.
    """

    def __init__(self, profiles: list[Profile]) -> None:
        self.profiles = profiles
        self.size = len(profiles)
        self.next = list(range(1, self.size + 1))
        self.previous = list(range(-1, self.size - 1))
        self.stamp = [0] * self.size
        self.heap = [(chi_square(a, b), first, 0) for first, (a, b) in enumerate(pairwise(profiles))]
        heapify(self.heap)

    def run(self, rule: _Rule) -> None:
        while self.size > 1 and (self._lowest() <= rule.threshold or self.size > rule.most):
            self._merge(self.heap[0][1])

    def last_ranks(self) -> list[int]:
        """The rank of the last number of each interval."""
        ranks, first = [], 0
        while first < len(self.next):
            first = self.next[first]
            ranks.append(first - 1)
        return ranks

    def _lowest(self) -> float:
        while self.heap[0][2] != self.stamp[self.heap[0][1]]:
            heappop(self.heap)
        return self.heap[0][0]

    def _merge(self, first: int) -> None:
        second = self.next[first]
        profile = self.profiles[first]
        for target, count in self.profiles[second].items():
            profile[target] = profile.get(target, 0) + count
        self.stamp[second] = -1
        self.next[first] = self.next[second]
        if self.next[first] < len(self.next):
            self.previous[self.next[first]] = first
        self.size -= 1
        self._test(first)
        if self.previous[first] >= 0:
            self._test(self.previous[first])

    def _test(self, first: int) -> None:
        self.stamp[first] += 1
        if self.next[first] < len(self.next):
            chi = chi_square(self.profiles[first], self.profiles[self.next[first]])
            heappush(self.heap, (chi, first, self.stamp[first]))
