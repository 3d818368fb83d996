"""How many values a group of people is linked to, and whether that is enough.

Paper: Defs 2–4, Theorem 1; l-diversity and t-closeness as the literature has them. Each rule is decided from a
histogram: how often each Y-value, generalized to its level, occurs in each X-group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacas.core.histogram import GroupHistogram, Ints, sum_by
from pacas.errors import InputError, did_you_mean

SCOPES = ("group", "row")


@dataclass(frozen=True, slots=True)
class Policy:
    """(X, Y, L) with value k: every X-group must be linked to at least k values of Y at levels L.

    Without Y it asks for k tuples a group, which is k-anonymity; an attribute of Y without a level has level 0.
    `allow_linkage` lets a provider sell Y to who knows more of a person than X (D5).
    """

    x: tuple[str, ...]
    y: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    k: int = 2
    allow_linkage: bool = False
    keep: int = 1
    """With sealed quotes: how many rows of every X-group nobody is sold more of than is safe."""
    scope: str = "group"
    """With sealed quotes: whether that protects each X-group, or each of its rows (`row`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", _names(self.x))
        object.__setattr__(self, "y", _names(self.y))
        if not self.x:
            raise InputError("a policy needs at least one attribute in X")
        if self.k < 1:
            raise InputError(f"k must be at least 1, not {self.k}")
        if self.keep < 1:
            raise InputError(f"keep must be at least 1, not {self.keep}")
        if self.scope not in SCOPES:
            raise InputError(f"no scope {self.scope!r}; {did_you_mean(self.scope, SCOPES)}")
        if both := set(self.x) & set(self.y):
            raise InputError(f"{sorted(both)[0]!r} stands both in X and in Y")
        if strange := set(self.levels) - set(self.y):
            raise InputError(f"a level is given for {sorted(strange)[0]!r}, which is not in Y")

    @property
    def y_levels(self) -> dict[str, int]:
        return {attribute: self.levels.get(attribute, 0) for attribute in self.y}


def _names(attributes: Sequence[str]) -> tuple[str, ...]:
    """Attributes as they are given, in any sequence; one of them may stand alone."""
    return (attributes,) if isinstance(attributes, str) else tuple(dict.fromkeys(attributes))


@dataclass(frozen=True, slots=True)
class Anonymity:
    """Whether a relation keeps a policy, and by how much.

    `k` is the largest that holds; it is None where there is no X-group, so that any does.
    """

    policy: Policy
    k: int | None
    groups: int
    failing_groups: int
    unlinked_rows: int

    @property
    def holds(self) -> bool:
        return self.failing_groups == 0


def check_anonymity(histogram: GroupHistogram, policy: Policy) -> Anonymity:
    """(X,Y,L)-anonymity, (X,Y) where all levels are 0, k-anonymity where Y is empty."""
    linked = linked_values(histogram) if policy.y else group_sizes(histogram)
    return Anonymity(
        policy,
        int(linked.min()) if len(linked) else None,
        histogram.groups,
        int((linked < policy.k).sum()),
        histogram.unlinked,
    )


def linked_values(histogram: GroupHistogram) -> Ints:
    """|Gᵗ(R)| per X-group: its distinct Y-values."""
    return np.bincount(histogram.group, minlength=histogram.groups).astype(np.int64)


def group_sizes(histogram: GroupHistogram) -> Ints:
    """Tuples per X-group."""
    return sum_by(histogram.group, histogram.n, histogram.groups)


def distinct_diversity(histogram: GroupHistogram) -> int | None:
    """The largest l such that each X-group has l distinct sensitive values; None without a group."""
    return int(linked_values(histogram).min()) if histogram.groups else None


def entropy_diversity(histogram: GroupHistogram) -> float | None:
    """The largest l such that the entropy of each X-group's sensitive values is at least log l; None without one."""
    if not histogram.groups:
        return None
    share = histogram.n / group_sizes(histogram)[histogram.group]
    entropy = np.bincount(histogram.group, weights=-share * np.log(share), minlength=histogram.groups)
    return float(np.exp(entropy.min()))


def closeness(histogram: GroupHistogram) -> float:
    """The smallest t such that no X-group's values are distributed further than t from the whole relation's.

    The earth mover's distance: over the order of the values if all are numbers, else with equal distances
    between values, where it is half the sum of the differences.
    """
    order = _numeric_order(histogram)
    overall = histogram.overall / max(histogram.overall.sum(), 1)
    share = histogram.n / group_sizes(histogram)[histogram.group]
    if order is None:
        return _equal_distance(histogram, share, overall)
    return _ordered_distance(histogram, share, overall, order)


def _equal_distance(histogram: GroupHistogram, share: NDArray[np.float64], overall: NDArray[np.float64]) -> float:
    """Half of Σ|p − q|: over the values that occur in the group, plus the overall share of those that do not."""
    here = overall[histogram.value]
    off = np.bincount(histogram.group, weights=np.abs(share - here) - here, minlength=histogram.groups)
    return float(((off + 1) / 2).max(initial=0.0))


def _ordered_distance(
    histogram: GroupHistogram, share: NDArray[np.float64], overall: NDArray[np.float64], order: Ints
) -> float:
    """Σ|cumulative difference| / (m − 1), group by group: linear in the entries, not in groups × values.

    Between two values that occur in a group, the group's cumulated share stays and only the overall one grows,
    so each stretch is a sum of |c − Q_i| over sorted Q_i, read off prefix sums.
    """
    m = len(order)
    if m < 2:
        return 0.0
    rank = np.empty(m, dtype=np.int64)
    rank[order] = np.arange(m)
    total = np.cumsum(overall[order])[:-1]  # Q after each value but the last, where both are 1
    prefix = np.concatenate([[0.0], np.cumsum(total)])
    by_rank = np.lexsort((rank[histogram.value], histogram.group))
    group, at, p = histogram.group[by_rank], rank[histogram.value][by_rank], share[by_rank]
    cumulated = np.cumsum(p)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    cumulated -= np.repeat(cumulated[starts] - p[starts], np.diff(np.append(starts, len(group))))
    end = np.append(at[1:], m - 1)
    end[np.append(starts[1:] - 1, len(group) - 1)] = m - 1
    stretch = _absolute(total, prefix, np.minimum(at, m - 1), np.minimum(end, m - 1), cumulated)
    before = _absolute(total, prefix, np.zeros(len(starts), dtype=np.int64), at[starts], np.zeros(len(starts)))
    moved = np.bincount(group, weights=stretch, minlength=histogram.groups) + before
    return float(moved.max(initial=0.0)) / (m - 1)


def _absolute(
    total: NDArray[np.float64], prefix: NDArray[np.float64], start: Ints, end: Ints, level: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ |level − total[i]| for i from start to end, total ascending."""
    turn = np.clip(np.searchsorted(total, level), start, np.maximum(start, end))
    below = level * (turn - start) - (prefix[turn] - prefix[start])
    above = (prefix[np.maximum(start, end)] - prefix[turn]) - level * (np.maximum(start, end) - turn)
    return np.asarray(below + above)


def _numeric_order(histogram: GroupHistogram) -> Ints | None:
    """The order of the values by number, if there is one attribute and all its values are numbers."""
    try:
        numbers = [float(value) for (value,) in histogram.values if value is not None]
    except ValueError:
        return None
    if len(numbers) < len(histogram.values) or not np.isfinite(numbers).all():
        return None
    return np.argsort(numbers, kind="stable").astype(np.int64)
